#!/usr/bin/env bash
# ra-ui-materialui 5.15.4 with @mui/material 7.3.11 and 9.5.0, both of which its peerDependencies allow, on Node 24 (jsdom).
#
# Expected: where validation refuses a form, the first input that it refuses gets the focus, as react-hook-form does by
# default.
# Seen: so it is with 7.3.11. With 9.5.0, which npm installs with react-admin 5.15.4, a `BooleanInput` and a
# `CheckboxGroupInput` get none, while a `TextInput` does: both give the reference to their input as `inputRef` to
# `FormControlLabel`, which takes that prop no longer. Who uses a keyboard or a screen reader stays at the button.
#
# Fails if 9.5.0 sets the focus, or 7.3.11 does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/run.cjs" <<'JS'
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<div id="root"></div>', { url: 'http://localhost/', pretendToBeVisual: true });
const { document, Element, HTMLElement } = window;
Object.assign(globalThis, { window, document, Element, HTMLElement });
console.error = () => undefined;
const { createElement } = require('react');
const { createRoot } = require('react-dom/client');
const { Form, ResourceContextProvider } = require('ra-core');
const { AdminContext, BooleanInput, CheckboxGroupInput, SaveButton, TextInput } = require('ra-ui-materialui');

const components = { TextInput, BooleanInput, CheckboxGroupInput };
const choices = ['red', 'green'].map((id) => ({ id, name: id }));
const validate = () => 'refused';
const forms = Object.entries(components).map(([id, component]) => {
  const input = createElement(component, {
    source: id,
    validate,
    ...(component === CheckboxGroupInput && { choices }),
  });
  const form = createElement(Form, {}, input, createElement(SaveButton, { alwaysEnable: true }));
  return createElement('section', { id, key: id }, form);
});
const page = createElement(ResourceContextProvider, { value: 'notes' }, forms);
createRoot(document.getElementById('root')).render(
  createElement(AdminContext, { dataProvider: {}, darkTheme: null }, page),
);

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
(async () => {
  await wait(2000);
  for (const id of Object.keys(components)) {
    const form = document.getElementById(id);
    const button = form.querySelector('[type=submit]');
    button.focus();
    button.click();
    await wait(1000);
    const isRefused = form.textContent.includes('refused');
    console.log(`${id}: ${isRefused ? 'refused' : 'valid'}, focus on ${document.activeElement.tagName.toLowerCase()}`);
  }
  process.exit(0);
})();
JS

expected='7.3.11 TextInput: refused, focus on input
7.3.11 BooleanInput: refused, focus on input
7.3.11 CheckboxGroupInput: refused, focus on input
9.5.0 TextInput: refused, focus on input
9.5.0 BooleanInput: refused, focus on button
9.5.0 CheckboxGroupInput: refused, focus on button'
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
