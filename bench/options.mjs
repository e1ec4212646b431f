import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const PARTS = ['operations', 'owner', 'rules', 'sessions', 'start', 'ruleStart'];
const OPERATIONS = ['findById', 'protected', 'page', 'create', 'filtered', 'included', 'patch', 'batch'];
const ROUNDS = 15;
/** A tenth less than recorded shows in fewer rounds. */
const CHECK_ROUNDS = 5;

const USAGE = `npm run bench -- [options]

Measures declarest, the hand-written Nest controller, the ordinary prototype and its peers as deployed (helmet, access log,
ValidationPipe, timing interceptor), on SQLite, PostgreSQL and MariaDB. Writes bench/results.json, bench/results.md and the
table of README.md. Needs wrk and two cores; takes about 90 minutes.

  --only a,b            these parts: ${PARTS.join(', ')}; writes nothing
  --operations a,b      these operations: ${OPERATIONS.join(', ')}
                        writes nothing, and measures no other part unless --only names it
  --contestants a,b     these contestants, for example declarest-fastify, declarest-express-postgres, kavo-express or
                        declarest-own-express; writes nothing
  --declarest a,b       these checkouts of declarest, side by side (default: this one); writes nothing
  --rounds N            rounds of every operation (${ROUNDS}); all of them are repeated, at most twice, while the quartiles of
                        a ratio lie more than a fifth apart
  --seconds N           length of a round, a whole number of seconds (1)
  --quick               1 round after a short warm-up; shows that everything runs; writes nothing
  --no-write            prints, and writes nothing
  --check               as npm run bench:check: ${CHECK_ROUNDS} rounds of every operation; exits with 1 if a ratio is below nine
                        tenths of that in bench/results.json; writes nothing
  --report              writes bench/results.md and the table of README.md from bench/results.json; measures nothing

  BENCH_CORES           the cores of the server and of wrk ("0,1")
  BENCH_POSTGRES_URL    a server of PostgreSQL on which it may create databases (TEST_POSTGRES_URL)
  BENCH_MYSQL_URL       a server of MariaDB on which it may create databases (TEST_MYSQL_URL)`;

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
    operations: list('operations', operations, OPERATIONS) ?? OPERATIONS,
    contestants: contestants?.split(','),
    folders,
    builds: folders.map((folder) => basename(folder)),
    rounds: positiveInteger('rounds', values.rounds ?? (quick ? 1 : check ? CHECK_ROUNDS : ROUNDS)),
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
