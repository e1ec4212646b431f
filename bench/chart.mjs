/** The ratios as bars, in an SVG that is readable on light and on dark paper. */
import { BASE } from './contestants.mjs';

/** Name, colour on light and on dark paper; told apart by their order and their labels as well. */
const SHOWN = [
  ['nest-fastify', '#8a8f98', '#9aa0aa'],
  ['dataui-crud', '#b9772f', '#d89a52'],
  ['feathers', '#8d6bb8', '#ab8bd6'],
  ['declarest-express', '#5ea3d0', '#6fb4e0'],
  ['declarest-express-own', '#1f78b4', '#3f9be0'],
  ['declarest-fastify', '#1b8a5a', '#35b87c'],
];

const WIDTH = 860;
const LABELS = 250;
const VALUES = 50;
const BAR = 11;
const GAP = 14;
const TOP = 92;

export function chart({ operations, date }) {
  const shown = SHOWN.filter(([name]) => operations.some(({ rows }) => ratioOf(rows, name)));
  const groups = operations.filter(({ rows }) => shown.some(([name]) => ratioOf(rows, name)));
  const most = Math.max(...groups.flatMap(({ rows }) => shown.map(([name]) => ratioOf(rows, name) ?? 0)));
  const scale = (WIDTH - LABELS - VALUES) / most;
  const parts = [];
  let y = TOP;
  for (const { title, rows } of groups) {
    const bars = shown.filter(([name]) => ratioOf(rows, name) !== undefined);
    const middle = y + (bars.length * BAR) / 2 + 4;
    parts.push(`<text x="${LABELS - 10}" y="${middle}" text-anchor="end">${escaped(title)}</text>`);
    for (const [name] of bars) {
      const ratio = ratioOf(rows, name);
      const width = Math.max(1, ratio * scale).toFixed(1);
      parts.push(
        `<rect class="${name}" x="${LABELS}" y="${y}" width="${width}" height="${BAR - 1}"><title>${escaped(title)}: ${name} ${ratio.toFixed(2)}</title></rect>`,
        `<text class="value" x="${(LABELS + Number(width) + 4).toFixed(1)}" y="${y + BAR - 2}">${ratio.toFixed(1)}</text>`,
      );
      y += BAR;
    }
    y += GAP;
  }
  const one = (LABELS + scale).toFixed(1);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 6}" role="img" aria-labelledby="title description">`,
    `<title id="title">Answers per second, as a multiple of a hand-written NestJS controller on Express</title>`,
    `<desc id="description">${escaped(description(groups, shown))}</desc>`,
    style(shown),
    `<text class="head" x="10" y="24">Answers per second, times a hand-written Nest controller on Express</text>`,
    `<text class="value" x="10" y="42">Longer is better. The line is ${BASE}; all of it in bench/results.md, ${date}.</text>`,
    ...legend(shown),
    `<line class="one" x1="${one}" y1="${TOP - 8}" x2="${one}" y2="${y - GAP + 4}"/>`,
    ...parts,
    '</svg>',
  ].join('\n')}\n`;
}

function ratioOf(rows, name) {
  return rows.find(({ contestant }) => contestant === name)?.ratio?.median;
}

function legend(shown) {
  const width = (WIDTH - 20) / shown.length;
  return shown.flatMap(([name], index) => {
    const x = 10 + index * width;
    return [
      `<rect class="${name}" x="${x.toFixed(1)}" y="58" width="10" height="10"/>`,
      `<text class="value" x="${(x + 14).toFixed(1)}" y="67">${name}</text>`,
    ];
  });
}

function style(shown) {
  const fills = (column) => shown.map((each) => `.${each[0]}{fill:${each[column]}}`).join('');
  return (
    `<style>text{font:12px system-ui,sans-serif;fill:#24292f}.head{font-size:15px;font-weight:600}.value{font-size:10.5px;fill:#57606a}` +
    `.one{stroke:#57606a;stroke-dasharray:3 3}${fills(1)}` +
    `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.value{fill:#9da7b3}.one{stroke:#9da7b3}${fills(2)}}</style>`
  );
}

/** The figures for whoever cannot see the bars. */
function description(groups, shown) {
  return groups
    .map(({ title, rows }) => {
      const figures = shown.map(([name]) => [name, ratioOf(rows, name)]).filter(([, ratio]) => ratio !== undefined);
      return `${title}: ${figures.map(([name, ratio]) => `${name} ${ratio.toFixed(1)}`).join(', ')}.`;
    })
    .join(' ');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
