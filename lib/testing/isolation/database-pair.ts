/** Two running applications whose databases differ only in what a caller may not see. */
import type { INestApplication } from '@nestjs/common';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { addressOf, as, type Answer, type TestUser } from '../client.js';
import { compare, isRecent, type Compared } from './comparison.js';
import { targetOf, type IsolationRequest } from './random-requests.js';
import { areSame, readRows, valuesByKind, type Value } from './table-values.js';

/** Sends a request of a caller to an application. */
export type IsolationTransport = (
  app: INestApplication,
  caller: TestUser,
  request: IsolationRequest,
) => Promise<Answer>;

export interface PairOptions {
  readonly createApp: () => Promise<INestApplication>;
  readonly vary: (app: INestApplication, caller: TestUser) => unknown;
  readonly send: IsolationTransport;
}

export const overHttp: IsolationTransport = (app, caller, request) => {
  const { method, headers, json } = request;
  return as(app, caller).request(method, targetOf(request), { headers, json });
};

export interface DatabasePair {
  readonly app: INestApplication;
  /** Of `valuesByKind`, without recent times. */
  readonly values: readonly (readonly Value[])[];
  send(request: IsolationRequest): Promise<Compared>;
}

/** Closes the applications when the work ends. @throws InvalidOptionError for databases that do not differ by `vary` only */
export async function withPair<R>(
  { createApp, vary, send: transport }: PairOptions,
  caller: TestUser,
  work: (pair: DatabasePair) => Promise<R>,
): Promise<R> {
  const since = Date.now();
  const apps: INestApplication[] = [];
  try {
    while (apps.length < 2) apps.push(await createApp());
    const [first, second] = apps as [INestApplication, INestApplication];
    const values = await makeDifferent(first, second, () => vary(second, caller));
    const send = async (request: IsolationRequest): Promise<Compared> => {
      const answerOf = (app: INestApplication): Promise<Answer> => transport(app, caller, request);
      return compare(request.method, await Promise.all([answerOf(first), answerOf(second)]), since);
    };
    const isKept = ({ value }: Value): boolean => !isRecent(String(value), since);
    return await work({ app: first, values: values.map((kind) => kind.filter(isKept)), send });
  } finally {
    for (const app of apps) await app.close();
  }
}

async function makeDifferent(
  first: INestApplication,
  second: INestApplication,
  vary: () => unknown,
): Promise<Value[][]> {
  await Promise.all([first, second].map(addressOf));
  const [before, unchanged] = [await readRows(first), await readRows(second)];
  if (!areSame('key', before, unchanged))
    refuse('createApp must create the same records each time, got other primary keys. Set the keys of the records.');
  await vary();
  const varied = await readRows(second);
  if (!areSame('text', before, await readRows(first)))
    refuse('createApp must create a database for each call, got one for two calls. Use a new name, or ":memory:".');
  if (areSame('text', unchanged, varied))
    refuse('vary must change what the caller may not see, got no change. Change records of others and hidden fields.');
  return valuesByKind(before, unchanged, varied);
}

function refuse(sentences: string): never {
  throw InvalidOptionError.withMessage(`isolationProof(): ${sentences}`);
}
