import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const PARTS = ['operations', 'owner', 'rules', 'sessions', 'start'];
const DEFAULT_OPERATIONS = ['findById', 'protected', 'page', 'create', 'filtered', 'patch', 'batch'];
const OPERATIONS = [...DEFAULT_OPERATIONS, 'included'];
/** What `--check` measures. */
const CHECKED = {
  operations: ['findById', 'page', 'create'],
  contestants: ['prototype-express', 'declarest-express', 'prototype-fastify', 'declarest-fastify'],
};

const USAGE = `npm run bench -- [options]

Measures declarest, the hand-written Nest controller and the ordinary prototype as deployed (helmet, access log,
ValidationPipe, timing interceptor). Writes bench/results.json, bench/results.md and the table of README.md. Needs wrk and
two cores; takes about 25 minutes.

  --only a,b            these parts: ${PARTS.join(', ')}; writes nothing
  --operations a,b      these operations: ${OPERATIONS.join(', ')}
                        (default: all but "included"); writes nothing, and measures no other part unless --only names it
  --contestants a,b     these contestants, for example declarest-fastify or declarest-own-express; writes nothing
  --declarest a,b       these checkouts of declarest, side by side (default: this one); writes nothing
  --rounds N            rounds of every operation (15); all of them are repeated, at most twice, while the quartiles of
                        a ratio lie more than a fifth apart
  --seconds N           length of a round, a whole number of seconds (1)
  --quick               1 round after a short warm-up; shows that everything runs; writes nothing
  --no-write            prints, and writes nothing
  --check               as npm run bench:check: ${CHECKED.operations.join(', ')} against the prototype; exits with 1 if
                        declarest has less than its least share
  --report              writes bench/results.md and the table of README.md from bench/results.json; measures nothing

  BENCH_CORES           the cores of the server and of wrk ("0,1")`;

const text = { type: 'string' };
const flag = { type: 'boolean', default: false };

export function readOptions() {
  const { values } = parseArgs({
    options: {
      only: text,
      operations: text,
      contestants: text,
      declarest: text,
      rounds: text,
      seconds: text,
      quick: flag,
      'no-write': flag,
      check: flag,
      report: flag,
      help: flag,
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { quick, only, operations, contestants, declarest, check } = values;
  const isPartial = quick || check || [only, operations, contestants, declarest].some((value) => value !== undefined);
  const folders = declarest?.split(',').map((folder) => resolve(folder)) ?? [join(import.meta.dirname, '..')];
  return {
    parts: list('only', only, PARTS) ?? (check || operations ? ['operations'] : PARTS),
    operations: list('operations', operations, OPERATIONS) ?? (check ? CHECKED.operations : DEFAULT_OPERATIONS),
    contestants: contestants?.split(',') ?? (check ? CHECKED.contestants : undefined),
    folders,
    builds: folders.map((folder) => basename(folder)),
    rounds: positiveInteger('rounds', values.rounds ?? (quick ? 1 : 15)),
    seconds: positiveInteger('seconds', values.seconds ?? 1),
    /** Seconds; between them a warm-up ends when it has sent enough requests. */
    warmUp: quick ? { least: 1, most: 2 } : { least: 2, most: 6 },
    check,
    report: values.report,
    write: !isPartial && !values['no-write'],
  };
}

function list(name, value, known) {
  const names = value?.split(',');
  const unknown = names?.filter((each) => !known.includes(each)) ?? [];
  if (unknown.length > 0) throw new Error(`--${name} must be some of ${known.join(', ')}, got ${unknown.join(', ')}.`);
  return names;
}

function positiveInteger(name, value) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a positive integer, got ${value}.`);
  return number;
}
