/** Three running applications: two with equal databases, and one whose database differs in what a caller may not see. */
import type { INestApplication } from '@nestjs/common';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { generatedRoutes } from '../../reach/generated-routes.js';
import { applicationOf } from '../../routes/application.js';
import { declaredRoute } from '../../routes/declared-route.js';
import { addressOf, as, type Answer, type TestUser } from '../client.js';
import { compare, isRecent, type Compared } from './comparison.js';
import { targetOf, type IsolationRequest } from './random-requests.js';
import { areSame, readRows, valuesByKind, type Row, type Value } from './table-values.js';
import { compiledAccessOf } from './visible-records.js';

/** Sends a request of a caller to an application. */
export type IsolationTransport = (
  app: INestApplication,
  caller: TestUser,
  request: IsolationRequest,
) => Promise<Answer>;

export interface DatabaseOptions {
  readonly createApp: () => Promise<INestApplication>;
  readonly vary: (app: INestApplication, caller: TestUser) => unknown;
  readonly send: IsolationTransport;
}

export const overHttp: IsolationTransport = (app, caller, request) => {
  const { method, headers, json } = request;
  return as(app, caller).request(method, targetOf(request), { headers, json });
};

export interface Databases {
  readonly app: INestApplication;
  /** The values of `valuesByKind`, without recent times. */
  readonly values: readonly (readonly Value[])[];
  /** The tables with records of which none was varied. */
  readonly untouched: readonly string[];
  send(request: IsolationRequest): Promise<Compared>;
}

/** Closes the applications when the work ends. @throws InvalidOptionError for databases that do not differ by `vary` only */
export async function withDatabases<R>(
  { createApp, vary, send: transport }: DatabaseOptions,
  caller: TestUser,
  work: (databases: Databases) => Promise<R>,
): Promise<R> {
  const since = Date.now();
  const apps: INestApplication[] = [];
  try {
    while (apps.length < 3) apps.push(await createApp());
    const [first, equal, varied] = apps as [INestApplication, INestApplication, INestApplication];
    const { values, untouched } = await makeDifferent(apps, () => vary(varied, caller));
    const isOfPackage = packageOperations(first);
    const send = async (request: IsolationRequest): Promise<Compared> => {
      const answerOf = (app: INestApplication): Promise<Answer> => transport(app, caller, request);
      const answers = await Promise.all([answerOf(first), answerOf(equal), answerOf(varied)]);
      return compare(request.method, isOfPackage(request), answers, since);
    };
    const isKept = ({ value }: Value): boolean => !isRecent(String(value), since);
    return await work({ app: first, values: values.map((kind) => kind.filter(isKept)), untouched, send });
  } finally {
    for (const app of apps) await app.close();
  }
}

/** Whether a generated operation serves a request, overridden or not, or an endpoint of accounts. */
function packageOperations(app: INestApplication): (request: IsolationRequest) => boolean {
  const generated = generatedRoutes(app, compiledAccessOf(app));
  const { routeTable } = applicationOf(app);
  return ({ method, path }) => {
    const { operation } = generated.serving(method, path) ?? {};
    if (operation) return operation.isStandard;
    return declaredRoute(routeTable.find(method, path)?.route.handler) !== undefined;
  };
}

async function makeDifferent(apps: readonly INestApplication[], vary: () => unknown) {
  const [first, equal, third] = apps as [INestApplication, INestApplication, INestApplication];
  await Promise.all(apps.map(addressOf));
  const [before, twin, unchanged] = [await readRows(first), await readRows(equal), await readRows(third)];
  if (!areSame('key', before, unchanged) || !areSame('key', before, twin))
    refuse('createApp must create the same records each time, got other primary keys. Set the keys of the records.');
  await vary();
  const varied = await readRows(third);
  if (!areSame('text', before, await readRows(first)) || !areSame('text', twin, await readRows(equal)))
    refuse('createApp must create a database for each call, got one for two calls. Use a new name, or ":memory:".');
  if (areSame('text', unchanged, varied))
    refuse('vary must change what the caller may not see, got no change. Change records of others and hidden fields.');
  const isChanged = (table: string): boolean =>
    !areSame(
      'text',
      ...([unchanged, varied].map((rows) => rows.filter((row) => row.table === table)) as [Row[], Row[]]),
    );
  const tables = [...new Set(unchanged.map(({ table }) => table))];
  return { values: valuesByKind(before, unchanged, varied), untouched: tables.filter((table) => !isChanged(table)) };
}

function refuse(sentences: string): never {
  throw InvalidOptionError.withMessage(`isolationProof(): ${sentences}`);
}
