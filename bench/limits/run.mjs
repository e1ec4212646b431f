/**
 * `npm run limits`: measures a deployed service under load on PostgreSQL, on both platforms, and writes the table of
 * docs/internals/limits.md. LIMITS_MINUTES is the time of the constant load (40). BENCH_POSTGRES_URL or TEST_POSTGRES_URL
 * is a server that may create databases. Exits with 1 if a criterion is missed.
 */
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { installDependencies } from '../install.mjs';
import { installedVersions, prepare } from '../prepare.mjs';

const MINUTES = Number(process.env.LIMITS_MINUTES ?? 40);
if (!(MINUTES > 0)) throw new Error(`LIMITS_MINUTES must be a positive number, got ${process.env.LIMITS_MINUTES}.`);
const PRODUCTS = 40_000;
const PLATFORMS = { Express: 'express', Fastify: 'fastify' };
const SEED = `INSERT INTO products (name, description, stock)
  SELECT 'Oak table no. ' || n, repeat('Oiled by hand, with room for six. ', 6), n % 100 FROM generate_series(1, ${PRODUCTS}) AS n`;

// A deployed service has all cores: without that, it would compute the hashes of passwords on the core of its requests.
process.env.BENCH_CORES ??= `0-${availableParallelism() - 1},0`;
installDependencies();
prepare([join(import.meta.dirname, '../..')]);
// These import dependencies.
const { SERVERS, createEmptyDatabase, serverVersions } = await import('../database-servers.mjs');
const { startServer } = await import('../server-process.mjs');
const { clientOf } = await import('./client.mjs');
const { measureIdleConnections, requireOpenFiles } = await import('./idle-connections.mjs');
const { measureLockedRow } = await import('./locked-row.mjs');
const { describe, writePage } = await import('./report.mjs');
const { measureSlowExports } = await import('./slow-exports.mjs');
const { measureSustained } = await import('./sustained.mjs');
if (SERVERS.postgres.url === undefined) throw new Error('Set BENCH_POSTGRES_URL to a server of PostgreSQL.');
requireOpenFiles();

const PARTS = { idle: measureIdleConnections, exports: measureSlowExports, lock: measureLockedRow };

const results = { Express: [], Fastify: [] };
// Both platforms at once: it takes long and leaves a core idle.
await Promise.all(
  Object.keys(PLATFORMS).map((platform) => add(platform, 'rate', (service) => measureSustained(service, MINUTES))),
);
for (const platform of Object.keys(PLATFORMS))
  for (const [part, measure] of Object.entries(PARTS)) await add(platform, part, measure);
writePage(results, await describeRun());
const isMissed = ({ holds }) => holds === false;
process.exit(Object.values(results).flat().some(isMissed) ? 1 : 0);

async function add(platform, part, measure) {
  for (const { title, ...figure } of await withService(PLATFORMS[platform], measure)) {
    results[platform].push({ title: `${part}: ${title}`, ...figure });
    console.log(describe(platform, results[platform].at(-1)));
  }
}

/** Each part has a process and a database of its own. */
async function withService(adapter, measure) {
  const database = await createEmptyDatabase('postgres');
  const contestant = { name: `limits-${adapter}`, file: 'limits.js', adapter, hasOwnData: true };
  const server = await startServer(contestant, { BENCH_DATABASE: database });
  try {
    const { Client } = await import('pg');
    const client = new Client({ connectionString: database });
    await client.connect();
    await client.query(SEED);
    await client.query('VACUUM ANALYZE products');
    await client.end();
    return await measure({ server, database, send: clientOf(server.origin), products: PRODUCTS });
  } finally {
    await server.stop();
    if (server.log()) console.log(server.log().slice(0, 2_000));
  }
}

async function describeRun() {
  const { declarest, ...packages } = installedVersions(['declarest', '@nestjs/core', 'pg']);
  const versions = Object.entries({
    Node: process.versions.node,
    ...packages,
    ...(await serverVersions(new Set(['postgres']))),
  });
  return (
    `declarest ${declarest} on ${new Date().toISOString().slice(0, 10)}: ${versions.map((each) => each.join(' ')).join(', ')}. ` +
    `One machine: ${cpus()[0]?.model}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB.`
  );
}
