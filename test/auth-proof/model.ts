/** What the models of this folder share: how many random sequences run, on which database, and the time. */
import * as fc from 'fast-check';
import { DataSource } from 'typeorm';
import type { AuthApp } from '../auth/auth-app.js';
import type { DatabaseName } from '../harness/databases.js';

/** `SESSION_SEQUENCES=10000` for the full run. */
export const SEQUENCES = Number(process.env['SESSION_SEQUENCES'] ?? 500);
/** `SESSION_SEED=7` for other sequences. */
const SEED = Number(process.env['SESSION_SEED'] ?? 1);

/** A model and the application, which take the same steps. */
export interface ModelRun<S> {
  begin(): Promise<void>;
  take(step: S): Promise<void>;
  /** Checks all that is left. */
  finish?(): Promise<void>;
}

interface Sequences<S> {
  readonly step: fc.Arbitrary<S>;
  readonly length: { readonly minLength: number; readonly maxLength: number; readonly size?: 'max' };
  /** How many run on SQLite; a tenth of them on others. */
  readonly count: number;
  readonly start: () => Promise<ModelRun<S>> | ModelRun<S>;
}

export async function checkSequences<S>(
  database: DatabaseName,
  { step, length, count, start }: Sequences<S>,
): Promise<void> {
  const property = fc.asyncProperty(fc.array(step, length), async (steps) => {
    const run = await start();
    await run.begin();
    for (const each of steps) await run.take(each);
    await run.finish?.();
  });
  await fc.assert(property, { numRuns: database === 'sqlite' ? count : Math.ceil(count / 10), seed: SEED });
}

/** Time goes on for the rows of a table. */
export async function moveBack({ app }: AuthApp, table: string, columns: readonly string[], ms: number): Promise<void> {
  const { driver, manager } = app.get(DataSource, { strict: false });
  const moved = columns.map((name) => `${driver.escape(name)} = ${driver.escape(name)} - ${ms}`);
  await manager.query(`UPDATE ${table} SET ${moved.join(', ')}`);
}

/** What the body of a request has as the proof of its user. */
export interface SentProof {
  /** `undefined` for none, and for more than one. */
  readonly member: string | undefined;
  readonly isRight: boolean;
}

/** @param accepted the proofs that count @returns the refusal of what lasts; `undefined` where the proof is good enough */
export function refusalOf(accepted: readonly string[], { member, isRight }: SentProof, isRecent: boolean) {
  if (accepted.length === 0) return isRecent ? undefined : 401;
  if (member === undefined || !accepted.includes(member)) return 400;
  return isRight ? undefined : 401;
}

/** A step by its name. */
export const named = <N extends string, F extends object>(
  weight: number,
  name: N,
  fields: { [K in keyof F]: fc.Arbitrary<F[K]> },
) => ({
  weight,
  arbitrary: fc.record({ name: fc.constant(name), ...fields }) as unknown as fc.Arbitrary<{ readonly name: N } & F>,
});
