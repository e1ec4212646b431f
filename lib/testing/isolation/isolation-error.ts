import type { TestUser } from '../client.js';
import type { Compared } from './comparison.js';
import { targetOf, type IsolationRequest } from './random-requests.js';

/** Two answers to a request, of databases that differ only in what its caller may not see. */
export interface IsolationFinding {
  readonly caller: TestUser;
  /** The smallest request whose answers differ. */
  readonly request: IsolationRequest;
  /** What must be sent before it; mostly nothing. */
  readonly earlier: readonly IsolationRequest[];
  readonly compared: Compared;
  /** Gives the same requests again. */
  readonly seed: number;
}

/** The answer to a request depends on what its caller may not see. */
export class IsolationError extends Error {
  override readonly name = 'IsolationError';

  constructor(readonly finding: IsolationFinding) {
    const { caller, request, earlier, compared, seed } = finding;
    const [first, second] = compared.texts;
    let same = 0;
    while (first[same] === second[same]) same += 1;
    super(
      [
        `The answer to a request depends on what its caller may not see (seed ${seed}).`,
        `caller: ${JSON.stringify(caller)}`,
        ...earlier.map((each) => `after:  ${lineOf(each)}`),
        `sent:   ${lineOf(request)}`,
        `one database:   ${excerpt(first, same)}`,
        `other database: ${excerpt(second, same)}`,
      ].join('\n'),
    );
  }
}

const SHOWN = 400;

/** The text around a place. */
function excerpt(text: string, place: number): string {
  const from = Math.max(0, place - SHOWN / 2);
  const [before, after] = [from > 0 ? '…' : '', text.length > from + SHOWN ? '…' : ''];
  return `${before}${text.slice(from, from + SHOWN)}${after}`.replaceAll('\n', ' ');
}

function lineOf(request: IsolationRequest): string {
  const { method, headers, json } = request;
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [method, targetOf(request), ...fields, JSON.stringify(json)].filter((part) => part !== undefined).join(' ');
}
