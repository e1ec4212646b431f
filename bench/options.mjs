import { parseArgs } from 'node:util';

const PARTS = ['deployed', 'bare', 'articles', 'owner', 'rules', 'start', 'last'];
const DEFAULT_PARTS = ['deployed', 'bare', 'articles', 'owner', 'rules', 'start'];
const QUICK_PARTS = ['deployed', 'bare'];
const OPERATIONS = ['findById', 'protected', 'page', 'deepPage', 'search', 'anonymous', 'update', 'create'];
const DEFAULT_OPERATIONS = ['findById', 'protected', 'page', 'create'];

const USAGE = `npm run bench -- [options]

Measures declarest, the hand-written Nest controller and the ordinary prototype, first as deployed (helmet, access log,
ValidationPipe, timing interceptor), then with nothing around the handlers. Writes bench/results.json, bench/results.md
and the table of README.md. Needs wrk and two cores; takes about 15 minutes.

  --quick               1 round after a short warm-up, without rules and start, in about 3 minutes; shows that
                        everything runs, but its figures are rough; writes nothing
  --only a,b            these parts: ${PARTS.join(', ')} (default: all but "last"); writes nothing
  --operations a,b      these operations: ${OPERATIONS.join(', ')}
                        (default: findById, protected, page, create); writes nothing
  --contestants a,b     these contestants of bench/contestants.mjs; writes nothing
  --peers               adds @dataui/crud and Feathers
  --rounds N            rounds of every operation (5)
  --seconds N           length of a round, a whole number of seconds (1)
  --resources N         resources of the part "last", which compares the first with the last (50)
  --no-write            prints, and writes nothing
  --report              writes bench/results.md and the table of README.md from bench/results.json; measures nothing

  DECLAREST_DIR         the checkout of declarest to measure (the folder above bench/)
  BENCH_CORES           the cores of the server and of wrk ("0,1")`;

const text = { type: 'string' };
const flag = { type: 'boolean', default: false };

export function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: flag,
      only: text,
      operations: text,
      contestants: text,
      peers: flag,
      rounds: text,
      seconds: text,
      resources: text,
      'no-write': flag,
      report: flag,
      help: flag,
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { quick, only, operations, contestants, peers } = values;
  const isPartial = quick || [only, operations, contestants].some((value) => value !== undefined);
  return {
    parts: list('only', only, PARTS) ?? (quick ? QUICK_PARTS : DEFAULT_PARTS),
    operations: list('operations', operations, OPERATIONS) ?? DEFAULT_OPERATIONS,
    contestants: contestants?.split(','),
    peers,
    rounds: positiveInteger('rounds', values.rounds ?? (quick ? 1 : 5)),
    seconds: positiveInteger('seconds', values.seconds ?? 1),
    /** Seconds; between them a warm-up ends when it has sent enough requests. */
    warmUp: quick ? { least: 1, most: 2 } : { least: 2, most: 6 },
    resources: positiveInteger('resources', values.resources ?? 50),
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
