/** What was measured, for the terminal and for docs/internals/limits.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../report.mjs';

const PAGE = join(import.meta.dirname, '../../docs/internals/limits.md');
const SECTION = /(<!-- results -->)[^]*(<!-- end of results -->)/;

const isRequired = ({ required }) => required !== undefined;

export const describe = (platform, figure) =>
  `${platform}: ${figure.title}: ${figure.value.join('/')}` +
  (isRequired(figure) ? `; required: ${figure.required}: ${figure.holds ? 'holds' : 'MISSED'}` : '');

/** @param results the figures of each platform, by its name */
export function writePage(results, machine) {
  const platforms = Object.keys(results);
  const [first] = Object.values(results);
  const cell = (figure) => figure.value.join('/') + (isRequired(figure) && !figure.holds ? ' (missed)' : '');
  const rows = first.map(({ title, required = '' }, index) => [
    title,
    required,
    ...platforms.map((platform) => cell(results[platform][index])),
  ]);
  const text = `${machine}\n\n${table(['figure', 'required', ...platforms], rows)}`;
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(SECTION, (_, begin, end) => `${begin}\n\n${text}\n\n${end}`),
  );
}
