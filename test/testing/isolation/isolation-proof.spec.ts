import { DataSource } from 'typeorm';
import type { INestApplication } from '@nestjs/common';
import { IsolationError, isolationProof, type TestUser } from 'declarest/testing';
import { PLATFORMS } from '../../harness/platforms.js';
import { ANN, BOB, varyFor } from './agency-entities.js';
import { agency, type Leak, LEAKS } from './agency.js';

const REQUESTS = Number(process.env['ISOLATION_REQUESTS'] ?? 200);
const vary = (app: INestApplication, caller: TestUser) => varyFor(app.get(DataSource, { strict: false }), caller);

describe.each(PLATFORMS)('on %s', (platform) => {
  it('clean', async () => {
    const t = Date.now();
    const result = await isolationProof(agency(platform), { as: [ANN, BOB], vary, requests: REQUESTS });
    console.log(
      Date.now() - t,
      JSON.stringify(result, null, 1)
        .replace(/\{\s+("\d+")/g, '{ $1')
        .replace(/(\d),\s+"/g, '$1, "'),
    );
  });
  it.each(Object.keys(LEAKS) as Leak[])('%s', async (leak) => {
    const t = Date.now();
    const error = await isolationProof(agency(platform, leak), { as: [ANN, BOB], vary, requests: 2000 }).catch(
      (e: unknown) => e,
    );
    console.log(
      leak,
      Date.now() - t,
      error instanceof Error
        ? error.name + error.message.replace('declarest', '') + (error instanceof IsolationError ? '' : error.stack)
        : 'NOT FOUND',
    );
  });
});
