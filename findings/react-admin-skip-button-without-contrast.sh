#!/usr/bin/env bash
# ra-ui-materialui 5.15.4 with @mui/material 9.5.0 on Node 24 (jsdom).
#
# Expected: the button "Skip to content", which the layout shows to those who press Tab, has a text that they can read: WCAG
# 2.2 (1.4.3) asks for a contrast of 4.5 to 1.
# Seen: it is 1.04 with the default light theme (white on nearly white) and 1.55 with the default dark theme (black on dark
# grey), and below 1.9 with all others that the package has, but for the dark theme "radiant". `SkipNavigationButton` has the
# text colour for the primary colour upon the colour of the background of the page. On a narrow screen it has no text.
# The themes of AdminFor set both (packages/ra-data-declarest/admin/src/themes.ts).
#
# Fails if a contrast of the default themes is 4.5 or more, or the button has a text on a narrow screen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 jsdom@31.0.1 react@19.3.1 react-dom@19.3.1 ra-core@5.15.4 \
  ra-ui-materialui@5.15.4 @mui/material@9.5.0 @mui/icons-material@9.5.0 @emotion/react@11.14.0 @emotion/styled@11.14.1
cat >run.cjs <<'JS'
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<div id="root"></div>', { url: 'http://localhost/', pretendToBeVisual: true });
const { document } = window;
Object.assign(globalThis, { window, document, HTMLElement: window.HTMLElement });
let isNarrow = false;
window.matchMedia = (media) => ({ media, matches: isNarrow, addEventListener() {}, removeEventListener() {} });
const { createElement } = require('react');
const { createRoot } = require('react-dom/client');
const ui = require('ra-ui-materialui');

const parse = (color) => color.match(/[\d.]+/g).map(Number);
const luminance = (color) => {
  const [red, green, blue] = color.map((value) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = ({ color, backgroundColor }) => {
  const behind = parse(backgroundColor);
  const [red, green, blue, alpha = 1] = parse(color);
  const mixed = [red, green, blue].map((value, index) => value * alpha + behind[index] * (1 - alpha));
  const [dark, light] = [luminance(mixed), luminance(behind)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
};

const root = createRoot(document.getElementById('root'));
const show = async (name) => {
  const button = createElement(ui.SkipNavigationButton);
  const props = { key: `${name} ${isNarrow}`, dataProvider: {}, theme: ui[name], darkTheme: null };
  root.render(createElement(ui.AdminContext, props, button));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return document.querySelector('.skip-nav-button');
};
(async () => {
  const contrasts = {};
  for (const name of Object.keys(ui).filter((key) => /(Light|Dark)Theme$/.test(key))) {
    const button = await show(name);
    contrasts[name] = contrast(window.getComputedStyle(button));
    console.log(`${name}: "${button.textContent}", contrast ${contrasts[name].toFixed(2)}`);
  }
  isNarrow = true;
  const narrow = await show('defaultLightTheme');
  console.log(`narrow: "${narrow.textContent}"`);
  const { defaultLightTheme, defaultDarkTheme } = contrasts;
  process.exit(defaultLightTheme < 4.5 && defaultDarkTheme < 4.5 && narrow.textContent === '' ? 0 : 1);
})();
JS
node_modules/node/bin/node run.cjs
