/** The access table as one page, which needs no other file: a matrix by caller that can be filtered. */
import { isAmong } from '../reach/callers.js';
import { namedRows } from '../reach/reach.js';
import { describeRows } from '../reach/rows.js';
import type { AccessTable } from './access-snapshot.js';

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; --line: #8884; --none: #8882; --all: #2a7; }
body { background: Canvas; color: CanvasText; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
form { display: flex; flex-wrap: wrap; gap: 1rem; }
input, select { font: inherit; padding: .3rem .5rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin-bottom: 1.5rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
th[scope=row] { font: 13px ui-monospace, monospace; white-space: nowrap; }
td.none { background: var(--none); }
td.all { font-weight: 600; box-shadow: inset 3px 0 var(--all); }
[hidden] { display: none; }`;

const SCRIPT = `
const [text, caller] = [document.querySelector('#text'), document.querySelector('#caller')];
function show() {
  for (const cell of document.querySelectorAll('[data-caller]')) cell.hidden = caller.value !== '' && cell.dataset.caller !== caller.value;
  for (const section of document.querySelectorAll('section')) {
    const rows = [...section.querySelectorAll('tbody tr')];
    for (const row of rows) row.hidden = !(section.dataset.name + ' ' + row.textContent).toLowerCase().includes(text.value.toLowerCase());
    section.hidden = rows.every((row) => row.hidden);
  }
}
text.addEventListener('input', show);
caller.addEventListener('input', show);`;

const ACTIONS = ['read', 'create', 'update'] as const;

export function accessPage({ routes, callers, resources }: AccessTable): string {
  const heads = callers
    .map((caller) => `<th scope="col" data-caller="${escape(caller)}">${escape(caller)}</th>`)
    .join('');
  const line = (name: string, textOf: (caller: string) => string): string => {
    const cells = callers.map((caller) => {
      const text = textOf(caller);
      return `<td class="${text === 'all' || text === 'none' ? text : ''}" data-caller="${escape(caller)}">${escape(text)}</td>`;
    });
    return `<tr><th scope="row">${escape(name)}</th>${cells.join('')}</tr>`;
  };
  const sections = resources.map((resource) => {
    const { entity, endpoint, fields } = resource;
    const lines = namedRows(resource).map(([name, by]) => line(name, (caller) => describeRows(by[caller] ?? 'none')));
    const ofFields = Object.entries(fields).map(([name, reach]) =>
      line(name, (caller) => ACTIONS.filter((action) => isAmong(reach[action], caller)).join(', ') || 'none'),
    );
    return section(`${entity} at ${endpoint}`, [
      `<table><thead><tr><th scope="col">rows</th>${heads}</tr></thead><tbody>${lines.join('')}</tbody></table>`,
      `<table><thead><tr><th scope="col">fields</th>${heads}</tr></thead><tbody>${ofFields.join('')}</tbody></table>`,
    ]);
  });
  const routeLines = routes.map(
    ({ method, path, access, rules }) =>
      `<tr><th scope="row">${escape(`${method} ${path}`)}</th><td>${escape(access)}</td><td>${escape(rules.join(', ') || 'default')}</td></tr>`,
  );
  const routeTable = `<table><thead><tr><th scope="col">route</th><th scope="col">access</th><th scope="col">rules</th></tr></thead><tbody>${routeLines.join('')}</tbody></table>`;
  const options = callers.map((caller) => `<option>${escape(caller)}</option>`).join('');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Access</title><style>${STYLE}</style></head>
<body>
<header><h1>Access</h1>
<form><label>Filter <input id="text" type="search"></label><label>Caller <select id="caller"><option value="">all</option>${options}</select></label></form></header>
<main>
${[...sections, section('Routes', [routeTable])].join('\n')}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

const section = (title: string, tables: readonly string[]): string =>
  `<section data-name="${escape(title)}"><h2>${escape(title)}</h2>${tables.map((table) => `<div tabindex="0">${table}</div>`).join('')}</section>`;

const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
