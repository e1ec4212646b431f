// The tables of declarest that a service may need, with the names that TypeORM gives to their keys and indexes.

export interface Table {
  readonly name: string;
  /** As in SQLite. The first one is the key. */
  readonly columns: readonly string[];
  readonly key: string;
  /** Columns by the names of their indexes. */
  readonly indexes: Readonly<Record<string, string>>;
}

type Tables = Readonly<Record<string, Table>>;

export const SESSIONS: Tables = {
  AuthSession: {
    name: 'declarest_auth_session',
    columns: [
      '"id" varchar(32) NOT NULL',
      '"userId" varchar(64) NOT NULL',
      '"currentHash" varchar(64) NOT NULL',
      '"previousHash" varchar(64)',
      '"rotatedAt" bigint',
      '"createdAt" bigint NOT NULL',
      '"lastUsedAt" bigint NOT NULL',
      '"expiresAt" bigint NOT NULL',
      '"userAgent" varchar(255)',
      '"address" varchar(45)',
      '"login" text',
    ],
    key: 'PK_d5c31d0e70d0cafc556c0556829',
    indexes: { IDX_88d4cdf862b218371fc77491a7: 'userId', IDX_321724000a8aed7d5e5610782e: 'expiresAt' },
  },
};

export const TOKENS: Tables = {
  OneTimeToken: {
    name: 'declarest_one_time_token',
    columns: [
      '"hash" varchar(64) NOT NULL',
      '"purpose" varchar(32) NOT NULL',
      '"userId" varchar(64) NOT NULL',
      '"data" text NOT NULL',
      '"tries" integer NOT NULL',
      '"expiresAt" bigint NOT NULL',
    ],
    key: 'PK_6b13967d07c28e5c6f56a10cc25',
    indexes: { IDX_33238852b1ad1c39bc6eb2114d: 'userId', IDX_521dc609c804ad55868e0752f7: 'expiresAt' },
  },
};

export const PASSKEYS: Tables = {
  Passkey: {
    name: 'declarest_passkey',
    columns: [
      '"id" varchar(64) NOT NULL',
      '"userId" varchar(64) NOT NULL',
      '"credentialId" varchar(1364) NOT NULL',
      '"handle" varchar(43) NOT NULL',
      '"publicKey" varchar(2048) NOT NULL',
      '"counter" bigint NOT NULL',
      '"transports" varchar(100) NOT NULL',
      '"backedUp" boolean NOT NULL',
      '"name" varchar(64) NOT NULL',
      '"createdAt" bigint NOT NULL',
      '"lastUsedAt" bigint',
    ],
    key: 'PK_25f911649e544bc05bf988d5d9b',
    indexes: { IDX_2827e7dc73add9df18cd9f3333: 'userId' },
  },
};

export const SECOND_FACTOR: Tables = {
  SecondFactor: {
    name: 'declarest_second_factor',
    columns: [
      '"userId" varchar(64) NOT NULL',
      '"secret" varchar(255)',
      '"pending" varchar(255)',
      '"lastStep" integer NOT NULL DEFAULT (0)',
      `"codes" varchar(700) NOT NULL DEFAULT ('')`,
    ],
    key: 'PK_a4a2e09c996605f518e22d2978c',
    indexes: {},
  },
};

export const OIDC: Tables = {
  ExternalIdentity: {
    name: 'declarest_external_identity',
    columns: [
      '"id" varchar(64) NOT NULL',
      '"userId" varchar(64) NOT NULL',
      '"provider" varchar(64) NOT NULL',
      '"issuer" varchar(255) NOT NULL',
      '"subject" varchar(255) NOT NULL',
      '"email" varchar(254)',
      '"isLinked" boolean NOT NULL',
      '"linkedAt" bigint NOT NULL',
    ],
    key: 'PK_c2796897ea6d34d608a321e08c7',
    indexes: { IDX_d4ce468de9ede0cf3fdec3fa2d: 'userId' },
  },
};

const indexesOf = ({ name, indexes }: Table): string[] =>
  Object.entries(indexes).map(([index, column]) => `CREATE INDEX "${index}" ON "${name}" ("${column}")`);

export function sqliteTable(table: Table): string[] {
  const [key = '', ...columns] = table.columns;
  const all = [key.replace('NOT NULL', 'PRIMARY KEY NOT NULL'), ...columns].join(', ');
  return [`CREATE TABLE "${table.name}" (${all})`, ...indexesOf(table)];
}

export function postgresTable(table: Table): string[] {
  const columns = table.columns.map((each) =>
    each.replace('varchar', 'character varying').replace(/DEFAULT \('?(\d*)'?\)/, "DEFAULT '$1'"),
  );
  const [, key] = /^("\w+")/.exec(table.columns[0] ?? '') ?? [];
  const all = [...columns, `CONSTRAINT "${table.key}" PRIMARY KEY (${key})`].join(', ');
  return [`CREATE TABLE "${table.name}" (${all})`, ...indexesOf(table)];
}
