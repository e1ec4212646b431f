/** Figures as tables of Markdown, which also read well on a terminal. */
import { BASE } from './contestants.mjs';

const MIB = 2 ** 20;

const digits = (number) =>
  number === undefined ? '' : String(number >= 100 ? Math.round(number) : Number(number.toPrecision(3)));
const factor = (number) => (number === undefined ? '' : number.toFixed(2));
const between = ({ least, most }, format) => `${format(least)}-${format(most)}`;
const withSpread = (figure, format) => (figure ? `${format(figure.median)} (${between(figure, format)})` : '');
const percent = (share) => (share === undefined ? '' : `${Math.round(share * 100)} %`);

function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length), 3));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [first, ...others] = cells.map(line);
  return [first, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others].join('\n');
}

export function throughputTable(rows) {
  const head = ['contestant', 'req/s', 'min-max', 'µs CPU/req', 'p50 ms', 'p99 ms', `x ${BASE} (min-max)`];
  return table(
    [...head, 'x by CPU', 'p99 x', 'of raw', 'of nest-compiled', 'of its core'],
    rows.map((row) => [
      row.contestant,
      digits(row.perSecond.median),
      between(row.perSecond, digits),
      digits(row.cpu),
      digits(row.p50),
      digits(row.p99),
      withSpread(row.ratio, factor),
      factor(row.cpuRatio),
      factor(row.p99Ratio),
      percent(row.ofLimit),
      percent(row.ofPrototype),
      percent(row.busy),
    ]),
  );
}

export function rulesTable(rows) {
  return table(
    ['contestant', 'rules', 'req/s', 'µs CPU/req', 'x 10 rules (min-max)'],
    rows.map(({ contestant, rules, perSecond, cpu, toFewest }) => [
      contestant,
      rules,
      digits(perSecond.median),
      digits(cpu),
      withSpread(toFewest, factor),
    ]),
  );
}

export function startTable(rows) {
  return table(
    [
      'contestant',
      'resources',
      'first 200, ms (min-max)',
      'RSS MiB',
      'first, req/s',
      'last, req/s',
      'last/first (min-max)',
      'by CPU',
    ],
    rows.map((row) => [
      row.contestant,
      row.resources,
      withSpread(row.milliseconds, digits),
      digits(row.rss),
      digits(row.first),
      digits(row.last),
      withSpread(row.lastToFirst, factor),
      factor(row.lastToFirstCpu),
    ]),
  );
}

export function memoryTable(rows) {
  const base = rows.find(({ contestant }) => contestant === BASE);
  return table(
    ['contestant', 'idle, MiB', 'after load, MiB', `after load, x ${BASE}`],
    rows.map(({ contestant, idle, loaded }) => [
      contestant,
      digits(idle / MIB),
      digits(loaded / MIB),
      factor(base && loaded / base.loaded),
    ]),
  );
}

export function loginTable(rows) {
  const base = rows.find(({ contestant }) => contestant === BASE);
  const head = ['contestant', 'GET alone p50 / p99, ms', 'beside logins p50 / p99 / max, ms', 'p99 min-max'];
  return table(
    [...head, `p99 x ${BASE}`, 'logins/s', 'login p50, ms'],
    rows.map((row) => [
      row.contestant,
      `${digits(row.aloneP50)} / ${digits(row.aloneP99)}`,
      `${digits(row.p50)} / ${digits(row.p99.median)} / ${digits(row.max)}`,
      between(row.p99, digits),
      factor(base && row.p99.median / base.p99.median),
      digits(row.loginsPerSecond),
      digits(row.login),
    ]),
  );
}

/** All operations at a glance: how many times the answers of the base. */
export function summaryTable(operations) {
  const names = [...new Set(operations.flatMap(({ rows }) => rows.map(({ contestant }) => contestant)))];
  return table(
    [`times ${BASE}`, ...names],
    operations.map(({ title, rows }) => [
      title,
      ...names.map((name) => factor(rows.find(({ contestant }) => contestant === name)?.ratio?.median)),
    ]),
  );
}
