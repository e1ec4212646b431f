/** `isolationProof` on PostgreSQL and MariaDB: nothing in the application without a leak; with `npm run proof:isolation`, two leaks. */
import { IsolationError, isolationProof } from 'declarest/testing';
import { createDatabase, DATABASES, type TestDatabase } from '../../harness/databases.js';
import { ANN, varyFor } from './agency-entities.js';
import { agency, type Leak } from './agency.js';
import { sourceOf } from './shelf.js';

const FULL = process.env['ISOLATION_REQUESTS'];
const REQUESTS = Number(FULL ?? 100);
const SEED = Number(process.env['ISOLATION_SEED'] ?? 1);

vi.setConfig({ testTimeout: 120_000 + REQUESTS * 200 });

describe.each(DATABASES.filter((name) => name !== 'sqlite'))('isolationProof on %s', (name) => {
  const databases: TestDatabase[] = [];
  afterEach(async () => {
    for (const { drop } of databases.splice(0)) await drop();
  });
  const onServer = async () => {
    const database = await createDatabase(name);
    databases.push(database);
    return database.options;
  };
  const proof = (platform: 'express' | 'fastify', requests: number, leak?: Leak) =>
    isolationProof(agency(platform, leak, onServer), {
      as: [ANN],
      vary: (app, caller) => varyFor(sourceOf(app), caller),
      requests,
      seed: SEED,
    });

  it(`finds nothing in the application by ${REQUESTS} requests`, async () => {
    const { operations } = await proof('express', REQUESTS);
    const succeeded = Object.values(operations).filter((statuses) => 200 in statuses || 201 in statuses);
    expect(succeeded.length).toBeGreaterThan(Object.keys(operations).length / 2);
  });

  it.each<Leak>(FULL === undefined ? [] : ['scope', 'include'])('finds the leak by %s', async (leak) => {
    await expect(proof('fastify', 2_000, leak)).rejects.toThrow(IsolationError);
  });
});
