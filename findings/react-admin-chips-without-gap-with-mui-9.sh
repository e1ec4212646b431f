#!/usr/bin/env bash
# ra-ui-materialui 5.15.4 with @mui/material 7.3.11 and 9.5.0, both of which its peerDependencies allow, on Node 24 (jsdom).
#
# Expected: `ReferenceArrayField` has the same space between its chips with both, and the prop `gap` of `SingleFieldList`
# sets it.
# Seen: with 7.3.11 the style is `gap: 8px`. With 9.5.0, which npm installs with react-admin 5.15.4, there is none: the chips
# touch each other, and the element has an attribute gap="1". `SingleFieldList`, the default of `ReferenceArrayField`, gives
# `gap` to `Stack`, which takes no such props in 9. A `gap` of the caller has no effect either; `sx={{ gap: 2 }}` has. In
# the source of ra-ui-materialui no other style is set in this way.
# The themes of AdminFor set the gap (packages/ra-data-declarest/admin/src/themes.ts).
#
# Fails if 9.5.0 has a gap, or 7.3.11 has none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/run.cjs" <<'JS'
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<div id="root"></div>', { url: 'http://localhost/', pretendToBeVisual: true });
Object.assign(globalThis, { window, document: window.document, HTMLElement: window.HTMLElement });
console.error = () => undefined;
const { createElement } = require('react');
const { createRoot } = require('react-dom/client');
const { AdminContext, ReferenceArrayField, SingleFieldList } = require('ra-ui-materialui');

const dataProvider = { getMany: async () => ({ data: [1, 2].map((id) => ({ id, name: `tag ${id}` })) }) };
const field = (list) =>
  createElement(ReferenceArrayField, { record: { id: 1, tags: [1, 2] }, source: 'tags', reference: 'tags' }, list);
const page = createElement(
  AdminContext,
  { dataProvider, darkTheme: null },
  field(),
  field(createElement(SingleFieldList, { gap: 2 })),
  field(createElement(SingleFieldList, { sx: { gap: 2 } })),
);
createRoot(document.getElementById('root')).render(page);
setTimeout(() => {
  const gaps = [...document.querySelectorAll('.MuiStack-root')].map((stack) => window.getComputedStyle(stack).gap);
  console.log(['by default', 'gap', 'sx'].map((name, index) => `${name}: ${gaps[index]}`).join(', '));
  process.exit(0);
}, 3000);
JS

expected='7.3.11 by default: 8px, gap: 16px, sx: 16px
9.5.0 by default: normal, gap: normal, sx: 16px'
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
