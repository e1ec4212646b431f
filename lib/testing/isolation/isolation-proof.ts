/** Compares the answers of two databases that differ only in what a caller may not see. */
import type { INestApplication } from '@nestjs/common';
import { describe, expectKnownNames, InvalidOptionError } from '../../options/invalid-option.js';
import type { TestUser } from '../client.js';
import type { Exception } from './comparison.js';
import { type Databases, type IsolationTransport, overHttp, withDatabases } from './databases.js';
import { readDocument } from './document-operations.js';
import { IsolationError, type IsolationFinding } from './isolation-error.js';
import { seeded } from './random.js';
import { RandomRequests, type IsolationRequest } from './random-requests.js';
import { varyHidden } from './vary-hidden.js';

export interface IsolationOptions {
  /** Each of them sends the requests, such as a user of each tenant. */
  readonly as: readonly TestUser[];
  /**
   * Changes in one of the databases what this caller may not see, and nothing else: it changes and removes records of others,
   * and changes hidden fields. It makes the same changes each time. Default `varyHidden`, which reads the access table.
   */
  readonly vary?: (app: INestApplication, caller: TestUser) => unknown;
  /** For each caller; default three for each operation of the document. */
  readonly requests?: number;
  /** Another integer makes other requests; default 1. */
  readonly seed?: number;
  /**
   * Sends the requests in another way than over HTTP, such as by calls of tools. What it returns is compared.
   * @example send: async (app, caller, { operation, path, query, json }) => answerOf(await callTool(app, caller, operation, …))
   */
  readonly send?: IsolationTransport;
}

export interface IsolationResult {
  /** How many requests had each status, by operation: `{ 'GET /api/projects': { 200: 31, 400: 2 } }`. */
  readonly operations: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** How many answers differed by an exception, or did not differ again when the requests were repeated. */
  readonly excepted: Readonly<Record<Exception | 'not repeated', number>>;
  /** The operations of which no request succeeded: nothing is said about their answers. */
  readonly failed: readonly string[];
  /** The tables with records of which `vary` has changed none, for any caller. */
  readonly untouched: readonly string[];
}

/** Requests of each operation, by default. */
const PER_OPERATION = 3;
/** New databases come after so many requests, so that deleted records come back. */
const ROUND = 100;

/**
 * Sends random requests of the OpenAPI document, as each caller, to applications whose databases differ only in what that
 * caller may not see. Compares status, headers and body of the answers. What two equal databases answer differently, generated
 * ids and times, and conflicts of unique values in generated operations may differ. Needs `@nestjs/swagger`.
 * @param createApp creates the application and its records, with a database of its own for each call: three of them
 * run at the same time. The records have the same primary keys each time
 * @returns what was sent
 * @throws IsolationError with the smallest request that tells a difference; InvalidOptionError for wrong arguments
 * @example const { failed, untouched } = await isolationProof(createApp, { as: [ann, bob] });
 */
export async function isolationProof(
  createApp: () => Promise<INestApplication>,
  options: IsolationOptions,
): Promise<IsolationResult> {
  checkArguments(createApp, options);
  const { as: callers, vary = varyHidden, requests, seed = 1, send: transport = overHttp } = options;
  const operations: Record<string, Record<number, number>> = {};
  const untouched: Set<string>[] = [];
  const excepted = { 'generated id': 0, conflict: 0, 'not repeated': 0 };
  for (const [place, caller] of callers.entries()) {
    const inNewDatabases: Round = (send) => withDatabases({ createApp, vary, send: transport }, caller, send);
    let random: RandomRequests | undefined;
    for (let rest = requests ?? 1; rest > 0;) {
      const sent: IsolationRequest[] = [];
      const comparison = await inNewDatabases(async ({ app, values, send, ...varied }) => {
        if (!random) {
          const document = await readDocument(app);
          random = new RandomRequests(document, values, seeded(seed * 1_000 + place));
          rest = requests ?? PER_OPERATION * document.operations.length;
          for (const { name } of document.operations) operations[name] ??= {};
          untouched.push(new Set(varied.untouched));
        }
        while (sent.length < Math.min(ROUND, rest)) {
          const request = random.next();
          sent.push(request);
          const compared = await send(request);
          const { status } = compared.answers[0];
          const statuses = (operations[request.operation] ??= {});
          statuses[status] = (statuses[status] ?? 0) + 1;
          random.learn(request, compared);
          if (compared.comparison !== 'same') return compared.comparison;
        }
        return 'same';
      });
      rest -= sent.length;
      // After an exception, the databases differ in more than what the caller may not see.
      if (comparison === 'same') continue;
      const isDifferent = comparison === 'different';
      const found = isDifferent && (await smallestRequests(sent, (each) => repeat(inNewDatabases, each)));
      if (found) throw new IsolationError({ ...found, caller, seed });
      excepted[isDifferent ? 'not repeated' : comparison] += 1;
    }
  }
  const isSuccess = (status: string): boolean => Number(status) < 400;
  const failed = Object.entries(operations).flatMap(([name, statuses]) =>
    Object.keys(statuses).some(isSuccess) ? [] : name,
  );
  const [first = new Set(), ...others] = untouched;
  return {
    operations,
    excepted,
    failed,
    untouched: [...first].filter((table) => others.every((each) => each.has(table))),
  };
}

type Round = <R>(send: (databases: Databases) => Promise<R>) => Promise<R>;

/** @returns `undefined` unless the answers to the last request, and to no others, differ */
const repeat = (inNewDatabases: Round, requests: readonly IsolationRequest[]) =>
  inNewDatabases(async ({ send }): Promise<Omit<IsolationFinding, 'caller' | 'seed'> | undefined> => {
    for (const [place, request] of requests.entries()) {
      const compared = await send(request);
      if (compared.comparison === 'same') continue;
      const isFound = compared.comparison === 'different' && place === requests.length - 1;
      return isFound ? { request, earlier: requests.slice(0, place), compared } : undefined;
    }
    return undefined;
  });

/** @throws InvalidOptionError */
function checkArguments(createApp: unknown, options: IsolationOptions): void {
  expectKnownNames('isolationProof(): options', options, ['as', 'vary', 'requests', 'seed', 'send']);
  const { as: callers, vary = varyHidden, requests = 1, seed = 1, send = overHttp } = options;
  const expected = [
    ['createApp', createApp, typeof createApp === 'function', 'a function', 'pass one that creates an application'],
    ['as', callers, Array.isArray(callers) && callers.length > 0, 'an array of users', 'name a user of each tenant'],
    ['vary', vary, typeof vary === 'function', 'a function', 'pass one that changes the second database'],
    ['requests', requests, Number.isSafeInteger(requests) && requests > 0, 'a positive integer', 'set 2000'],
    ['seed', seed, Number.isSafeInteger(seed), 'an integer', 'set 1'],
    ['send', send, typeof send === 'function', 'a function', 'pass one that returns an answer, or leave it out'],
  ] as const;
  for (const [name, value, isValid, kind, advice] of expected)
    if (!isValid) throw new InvalidOptionError(`isolationProof(): ${name}`, kind, describe(value), advice);
}

/** @returns `undefined` unless the answers to the last one of these requests differ; starts with new databases */
type Attempt<F> = (requests: readonly IsolationRequest[]) => Promise<F | undefined>;

/** The smallest requests that still tell two databases apart. @returns `undefined` where the answers to the last request do not differ again */
export async function smallestRequests<F>(
  all: readonly IsolationRequest[],
  attempt: Attempt<F>,
): Promise<F | undefined> {
  let [requests, found]: [readonly IsolationRequest[], F | undefined] = [all, undefined];
  const isFound = async (candidate: readonly IsolationRequest[]): Promise<boolean> => {
    const repeated = await attempt(candidate);
    if (repeated) [requests, found] = [candidate, repeated];
    return repeated !== undefined;
  };
  if (!(await isFound(all.slice(-1))) && !(await isFound(all))) return undefined;
  for (let size = requests.length >> 1; size >= 1; size >>= 1)
    for (let start = 0; start < requests.length - 1;) {
      const most = requests.length - 1 - start;
      if (!(await isFound(requests.toSpliced(start, Math.min(size, most))))) start += size;
    }
  for (let place = 0; place < requests.length;) {
    let isSmaller = false;
    for (const candidate of smaller(requests[place] as IsolationRequest))
      if ((isSmaller = await isFound(requests.with(place, candidate)))) break;
    if (!isSmaller) place += 1;
  }
  return found;
}

/** The request with one part less. */
function* smaller(request: IsolationRequest): Generator<IsolationRequest> {
  const { query, headers, json } = request;
  for (const place of query.keys()) yield { ...request, query: query.toSpliced(place, 1) };
  for (const name of Object.keys(headers)) {
    const { [name]: _, ...others } = headers;
    yield { ...request, headers: others };
  }
  for (const part of smallerJson(json)) yield { ...request, json: part };
}

/** The value with one member or element less, at any depth. */
function* smallerJson(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const place of value.keys()) yield value.toSpliced(place, 1);
    for (const [place, each] of value.entries()) for (const part of smallerJson(each)) yield value.with(place, part);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      const { [name]: _, ...others } = value as Readonly<Record<string, unknown>>;
      yield others;
      for (const part of smallerJson(each)) yield { ...value, [name]: part };
    }
  }
}
