/** Two running applications whose databases differ only in what a caller may not see. */
import type { INestApplication } from '@nestjs/common';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { addressOf, as, type Answer, type TestUser } from '../client.js';
import { compare, comparedOf, isRecent, type Comparison } from './comparison.js';
import { targetOf, type IsolationRequest } from './random-requests.js';
import { haveSameKeys, haveSameRows, readTables, stableValues, type Value } from './table-values.js';

export interface PairOptions {
  readonly createApp: () => Promise<INestApplication>;
  readonly vary: (app: INestApplication, caller: TestUser) => unknown;
}

export interface Exchange {
  readonly comparison: Comparison;
  readonly answers: readonly [Answer, Answer];
  readonly compared: readonly [string, string];
}

export class DatabasePair {
  readonly apps: INestApplication[] = [];
  /** When the creation of the databases began. */
  private readonly since = Date.now();

  private constructor(private readonly caller: TestUser) {}

  /** Closes them when the work ends. @throws InvalidOptionError where the databases do not differ by `vary` only */
  static async use<R>(
    { createApp, vary }: PairOptions,
    caller: TestUser,
    work: (pair: DatabasePair, values: readonly Value[]) => Promise<R>,
  ): Promise<R> {
    const pair = new DatabasePair(caller);
    try {
      return await work(pair, await pair.start(createApp, vary));
    } finally {
      for (const app of pair.apps) await app.close();
    }
  }

  /** @returns the values of the columns, which are the same for each pair */
  private async start(createApp: PairOptions['createApp'], vary: PairOptions['vary']): Promise<Value[]> {
    for (const _ of ['first', 'second']) this.apps.push(await createApp());
    const [one, other] = this.apps as [INestApplication, INestApplication];
    for (const app of this.apps) await addressOf(app);
    const [first, unchanged] = [await readTables(one), await readTables(other)];
    if (!haveSameKeys(first, unchanged))
      refuse('createApp must create the same records each time, got other primary keys. Set the keys of the records.');
    await vary(other, this.caller);
    const varied = await readTables(other);
    if (!haveSameRows(first, await readTables(one)))
      refuse('createApp must create a database for each call, got one for two calls. Use a new name, or ":memory:".');
    if (haveSameRows(unchanged, varied))
      refuse(
        'vary must change what the caller may not see, got no change. Change records of others and hidden fields.',
      );
    return stableValues(first, unchanged, varied).filter(({ value }) => !isRecent(String(value), this.since));
  }

  async send(request: IsolationRequest): Promise<Exchange> {
    const { method, headers, json } = request;
    const send = (app: INestApplication | undefined): Promise<Answer> =>
      as(app as INestApplication, this.caller).request(method, targetOf(request), { headers, json });
    const answers = await Promise.all([send(this.apps[0]), send(this.apps[1])]);
    const [first, second] = [comparedOf(answers[0], this.since), comparedOf(answers[1], this.since)];
    return { comparison: compare(method, first, second), answers, compared: [first.text, second.text] };
  }
}

function refuse(sentences: string): never {
  throw InvalidOptionError.withMessage(`isolationProof(): ${sentences}`);
}
