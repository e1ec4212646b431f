/** Looks for the smallest requests that still tell two databases apart. */
import type { IsolationRequest } from './random-requests.js';

/** @returns `undefined` unless the answers to the last one of these requests differ; starts with new databases */
export type Attempt<F> = (requests: readonly IsolationRequest[]) => Promise<F | undefined>;

/** @returns `undefined` where the answers to the last request do not differ again */
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
