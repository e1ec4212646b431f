/** The contestants: each is a process of its own that runs a file of contestants/. */
import { DIALECTS } from './dialects.mjs';
import { SERVERS } from './database-servers.mjs';

const FILES = {
  'hand-written': 'nest.js',
  prototype: 'compiled.js',
  declarest: 'declarest.js',
  kavo: 'peers/kavo.js',
  'nestjs-paginate': 'peers/nestjs-paginate.js',
  dataui: 'peers/dataui.js',
};
/** Packages that people choose instead of declarest. */
const PEERS = { kavo: 'Kavo', 'nestjs-paginate': 'nestjs-paginate', dataui: '@dataui/crud' };
const ADAPTERS = { express: 'Express', fastify: 'Fastify', 'own-express': 'declarest/express' };

/** Ratios compare contestants of one platform and one database; `adapter` is `platform` but for that of declarest/express. */
const contestant = (kind, platform, { adapter = platform, database = 'sqlite' } = {}) => ({
  name: [kind, adapter, ...(database === 'sqlite' ? [] : [database])].join('-'),
  title: [PEERS[kind] ?? kind, ADAPTERS[adapter], ...(database === 'sqlite' ? [] : [SERVERS[database].title])].join(
    ', ',
  ),
  kind,
  platform,
  adapter,
  database,
  file: FILES[kind],
  dialect: DIALECTS[kind],
});

const PLATFORMS = ['express', 'fastify'];
const ON_SQLITE = PLATFORMS.flatMap((platform) =>
  ['hand-written', 'prototype', 'declarest'].map((kind) => contestant(kind, platform)),
);
const ON_SERVERS = Object.keys(SERVERS).flatMap((database) =>
  PLATFORMS.flatMap((platform) =>
    ['hand-written', 'declarest'].map((kind) => contestant(kind, platform, { database })),
  ),
);
/** On Nest's default platform, which their documentation uses. */
const PEERS_ON_EXPRESS = Object.keys(PEERS).map((kind) => contestant(kind, 'express'));
const OPTIONAL = [
  contestant('declarest', 'express', { adapter: 'own-express' }),
  ...Object.keys(PEERS).map((kind) => contestant(kind, 'fastify')),
];

export const isDeclarest = ({ kind }) => kind === 'declarest';
export const isPeer = ({ kind }) => kind in PEERS;
/** The parts that compare declarest with itself, or its start, use SQLite. */
export const isOnSqlite = ({ database }) => database === 'sqlite';
export const hasOperation = ({ dialect: { operations } }, name) => operations?.includes(name) ?? true;

/** The contestant of a kind on the same platform and database. */
export const findRival = ({ platform, database }, kind, contestants) =>
  contestants.find((each) => each.kind === kind && each.platform === platform && each.database === database);

const isReachable = ({ database }) => database === 'sqlite' || SERVERS[database].url !== undefined;

/** @param builds names of the measured builds of declarest; those after the first are contestants of their own */
export function chooseContestants(names, builds) {
  const all = [...ON_SQLITE, ...PEERS_ON_EXPRESS, ...ON_SERVERS];
  const known = [...all, ...OPTIONAL];
  const unknown = names?.filter((name) => !known.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(
      `--contestants must be some of ${known.map(({ name }) => name).join(', ')}, got ${unknown.join(', ')}.`,
    );
  const unreachable = known.filter((each) => names?.includes(each.name) && !isReachable(each));
  for (const { name, database } of unreachable)
    throw new Error(`${name} needs a server of ${SERVERS[database].title}. Set ${SERVERS[database].variable}.`);
  const chosen = names ? known.filter(({ name }) => names.includes(name)) : all.filter(isReachable);
  return chosen.flatMap((each) => [
    each,
    ...builds
      .map((label, build) => ({ ...each, build, name: `${each.name}-${build}`, title: `${each.title} (${label})` }))
      .slice(1)
      .filter(isDeclarest),
  ]);
}

/** One sentence for each database that no variable names: a run without it is not complete. */
export const findUnmeasuredDatabases = (names) =>
  names
    ? []
    : Object.values(SERVERS)
        .filter(({ url }) => url === undefined)
        .map(({ title, variable }) => `${title} is not measured, and nothing is written. Set ${variable}.`);
