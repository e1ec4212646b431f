/** What the items of a write have in common: the names of their errors, and results of their own with `atomic=false`. */
import { BadRequestException } from '@nestjs/common';
import { failureOf, type FieldError } from '../../http/failure.js';
import type { BatchResult } from '../declare/envelope.js';
import type { Plan } from '../plan/plan.js';
import { managerOf, type Call } from '../store/call.js';

export type NameItem = (index: number) => string;

export const inBatch: NameItem = (index) => `items[${index}]`;
export const noName: NameItem = () => '';

/** Writes each item in a transaction of its own. @param status of a success @throws 400 inside another transaction */
export async function writeSeparately<I, D>(
  plan: Plan,
  call: Call,
  items: readonly I[],
  status: number,
  write: (item: I) => Promise<D>,
): Promise<BatchResult<D>[]> {
  refuseTransaction(plan, call);
  const results: BatchResult<D>[] = [];
  const given = new Set<string>();
  for (const item of items)
    try {
      results.push({ status, data: await write(item) });
    } catch (error) {
      const { members, ...failure } = await failureOf(error, call.request, plan.failureTools(), given);
      results.push({ ...members, ...failure });
    }
  call.state?.answers.set(results, { status: 207 });
  return results;
}

/** The answer to a key is stored in a transaction, which a failed statement ends on PostgreSQL. @throws 400 */
export function refuseTransaction({ database, options }: Plan, call: Call): void {
  if (managerOf(call, database) || call.state?.idempotency?.(options))
    throw new BadRequestException('atomic=false cannot be combined with Idempotency-Key or another transaction');
}

/** Calls a check for each item. @throws 400 with the wrong fields of all items */
export async function checkItems<I, R>(
  items: readonly I[],
  nameOf: NameItem,
  check: (item: I, index: number) => R | Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const errors: FieldError[] = [];
  let message = '';
  for (const [index, item] of items.entries())
    try {
      results.push(await check(item, index));
    } catch (error) {
      const wrong = wrongFieldsOf(error, nameOf(index));
      if (!wrong) throw error;
      ({ message } = error as BadRequestException);
      errors.push(...wrong);
    }
  if (errors.length > 0) throw new BadRequestException({ message, errors });
  return results;
}

/** For the promise of an item of a batch. @throws 400 with the name of the item before its wrong fields */
export const throwFor = (name: string) => (error: unknown) => {
  const errors = name === '' ? undefined : wrongFieldsOf(error, name);
  throw errors ? new BadRequestException({ message: (error as BadRequestException).message, errors }) : error;
};

function wrongFieldsOf(error: unknown, name: string): readonly FieldError[] | undefined {
  if (!(error instanceof BadRequestException)) return undefined;
  const { errors } = error.getResponse() as { readonly errors?: readonly FieldError[] };
  return errors?.map(({ field, ...rest }) => ({ field: name && field ? `${name}.${field}` : name || field, ...rest }));
}
