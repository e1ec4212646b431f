/** Finds settings of MySQL, MariaDB and mysql2 that let values change, or become SQL. */
import { Logger } from '@nestjs/common';
import { InvalidOptionError } from '../options/invalid-option.js';

type Settings = Readonly<Record<string, unknown>>;

interface Rule {
  readonly path: string;
  readonly expected: string;
  readonly advice: string;
  /** @returns what is wrong, if something is */
  readonly wrong: (variables: Settings, options: Settings) => unknown;
  /** Whether it stops every start, or only warns with `strict` too. Others stop the start with `strict`. */
  readonly always?: 'refused' | 'warned';
}

const unless = (isRight: boolean, value: unknown): unknown => (isRight ? undefined : value);
const of = (settings: Settings, name: string): string => String(settings[name] ?? '');

const CHARACTER_SETS = ['character_set_client', 'character_set_connection', 'character_set_results'];

const RULES: readonly Rule[] = [
  {
    path: 'The sql_mode of the data source',
    expected: 'without NO_BACKSLASH_ESCAPES',
    advice: 'Remove it on the server: mysql2 escapes by backslash, so texts of clients would run as SQL',
    wrong: (variables) => unless(!/\bNO_BACKSLASH_ESCAPES\b/.test(of(variables, 'sql_mode')), variables['sql_mode']),
    always: 'refused',
  },
  {
    path: 'The flags of the data source',
    expected: 'without -FOUND_ROWS',
    advice: 'Remove it: a record that a write leaves as it is would count as one that is not there',
    wrong: (_, { flags }) => unless(!/-FOUND_ROWS\b/i.test(String(flags)), flags),
    always: 'refused',
  },
  {
    path: 'The sql_mode of the data source',
    expected: 'strict',
    advice: 'Add STRICT_TRANS_TABLES on the server: without it, values that do not fit are cut or replaced',
    wrong: (variables) => {
      const mode = of(variables, 'sql_mode');
      return unless(/\bSTRICT_(TRANS|ALL)_TABLES\b/.test(mode), mode || 'none');
    },
  },
  {
    path: 'The character set of the data source',
    expected: 'utf8mb4',
    advice: "Set `charset: 'utf8mb4'` in the options of TypeORM: other texts are stored with wrong characters",
    wrong: (variables) => CHARACTER_SETS.map((name) => of(variables, name)).find((each) => each !== 'utf8mb4'),
  },
  {
    path: 'wsrep_sync_wait of the data source',
    expected: 'at least 1 on a Galera cluster',
    advice:
      'Set it on the server, or by `SET SESSION wsrep_sync_wait = 1` for each connection: a node that is behind shows ' +
      'clients less than they have written, and ended sessions as open',
    wrong: (variables) => {
      const waits = (Number(variables['wsrep_sync_wait']) & 1) === 1;
      return unless(waits || variables['wsrep_on'] !== 'ON', of(variables, 'wsrep_sync_wait'));
    },
  },
  {
    path: '`replication` of the data source',
    expected: 'with `restoreNodeTimeout`',
    advice:
      'Add to `replication`: restoreNodeTimeout: 1_000. Without it, mysql2 removes a server after five errors for ever, ' +
      'and may end the process',
    wrong: (_, { replication }) => {
      const { restoreNodeTimeout, removeNodeErrorCount } = (replication ?? {}) as Settings;
      const isSet = Number(restoreNodeTimeout) > 0 || Number(removeNodeErrorCount) >= 1_000;
      return unless(replication === undefined || isSet, 'none');
    },
    always: 'warned',
  },
];

/** Logs what is wrong. @throws InvalidOptionError for what is not safe, and for most others with `strict` */
export function checkModes(variables: Settings, options: Settings, isStrict: boolean): void {
  for (const { path, expected, advice, wrong, always } of RULES) {
    const got = wrong(variables, options);
    if (got === undefined) continue;
    const error = new InvalidOptionError(path, expected, String(got), advice);
    if (always === 'refused' || (isStrict && always !== 'warned')) throw error;
    new Logger('declarest').warn(error.message);
  }
}
