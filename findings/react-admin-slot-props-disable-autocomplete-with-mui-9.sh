#!/usr/bin/env bash
# ra-ui-materialui 5.15.4 with @mui/material 7.3.11 and 9.5.0, both of which its peerDependencies allow, on Node 24 (jsdom).
#
# Expected: `<AutocompleteInput TextFieldProps={{ slotProps: { inputLabel: { shrink: true } } }}>` changes the label alone.
# Seen: so it is with 7.3.11. With 9.5.0, which npm installs with react-admin 5.15.4, it is a bare text field: no role
# combobox, no choices. Any `slotProps` there does so: they replace the `slotProps` of the parameter of `renderInput`, in
# which MUI 9 hands over what it handed over as `InputProps` and `inputProps` before.
# AdminFor gives none.
#
# Fails if 9.5.0 shows the choices, or 7.3.11 does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/run.cjs" <<'JS'
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<div id="root"></div>', { url: 'http://localhost/', pretendToBeVisual: true });
const { document, Element, getComputedStyle, HTMLElement, MutationObserver, Node } = window;
Object.assign(globalThis, { window, document, Element, getComputedStyle, HTMLElement, MutationObserver, Node });
console.error = () => undefined;
window.addEventListener('error', (event) => event.preventDefault());
const { createElement } = require('react');
const { createRoot } = require('react-dom/client');
const { Form, ResourceContextProvider } = require('ra-core');
const { AdminContext, AutocompleteInput } = require('ra-ui-materialui');

const choices = ['red', 'green'].map((id) => ({ id, name: id }));
const props = {
  plain: {},
  slotProps: { TextFieldProps: { slotProps: { inputLabel: { shrink: true } } } },
};
const inputs = Object.entries(props).map(([source, more]) =>
  createElement(AutocompleteInput, { key: source, source, choices, ...more }),
);
const form = createElement(ResourceContextProvider, { value: 'notes' }, createElement(Form, {}, inputs));
createRoot(document.getElementById('root')).render(
  createElement(AdminContext, { dataProvider: {}, darkTheme: null }, form),
);

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
(async () => {
  await wait(2000);
  for (const source of Object.keys(props)) {
    const input = document.querySelector(`[name=${source}]`);
    input.focus();
    for (const type of ['mousedown', 'click']) input.dispatchEvent(new window.MouseEvent(type, { bubbles: true }));
    input.dispatchEvent(new window.KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
    await wait(1000);
    const listed = document.getElementById(`${input.id}-listbox`)?.children.length ?? 0;
    console.log(`${source}: role ${input.getAttribute('role')}, ${listed} choices`);
  }
  process.exit(0);
})();
JS

expected='7.3.11 plain: role combobox, 2 choices
7.3.11 slotProps: role combobox, 2 choices
9.5.0 plain: role combobox, 2 choices
9.5.0 slotProps: role null, 0 choices'
seen=$(for version in 7.3.11 9.5.0; do
  mkdir "$folder/$version"
  cd "$folder/$version"
  cp ../run.cjs .
  npm init -y >/dev/null
  npm install --no-audit --no-fund --loglevel=error node@24.21.0 jsdom@31.0.1 react@19.3.1 react-dom@19.3.1 ra-core@5.15.4 \
    ra-ui-materialui@5.15.4 "@mui/material@$version" "@mui/icons-material@${version%%.*}" "@mui/system@${version%%.*}" \
    "@mui/utils@${version%%.*}" @emotion/react@11.14.0 @emotion/styled@11.14.1 >/dev/null
  node_modules/node/bin/node run.cjs | sed "s/^/$version /"
done)
echo "$seen"
[ "$seen" = "$expected" ]
