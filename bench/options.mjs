import { parseArgs } from 'node:util';

const USAGE = `npm run bench -- [options]

  --rounds N            rounds of every operation (5)
  --seconds S           length of one load (2)
  --quick               3 rounds of 1 second
  --only a,b            these operations: those of bench/operations.mjs, and login, rules, start;
                        with "postgres:" in front on PostgreSQL
  --contestants a,b     these contestants: those of bench/contestants.mjs
  --check               compares with the committed bench/results.json, and writes nothing
  --no-write            prints, and writes nothing; so does every run with --only, --contestants or --quick

  DECLAREST_DIR         the checkout of declarest that is measured (the folder above bench/)
  TEST_POSTGRES_URL     where the PostgreSQL is; without it those runs are left out
  BENCH_CORES           the processor of the server and that of the load ("0,1")`;

const OPTIONS = {
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  contestants: { type: 'string' },
  check: { type: 'boolean', default: false },
  'no-write': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

export function readOptions() {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { quick, check } = values;
  const list = (text) => text?.split(',').map((name) => name.trim());
  const partial = quick || values.only !== undefined || values.contestants !== undefined;
  return {
    rounds: Number(values.rounds ?? (quick ? 3 : 5)),
    seconds: Number(values.seconds ?? (quick ? 1 : 2)),
    warmUpSeconds: quick ? 1 : 2,
    only: list(values.only),
    contestants: list(values.contestants),
    check,
    write: !partial && !check && !values['no-write'],
  };
}
