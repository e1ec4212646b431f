/** The plan of a statement of a generated resource without an index and with it, which is rolled back. */
import type { EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { beginTransaction } from '../database/transactions.js';
import { isMysql, isSqlite } from '../entities/database-family.js';
import { and, callAs, compare, type Call, type Condition } from '../crud/inspect.js';
import type { Candidate } from './index-candidates.js';

interface Statement {
  readonly query: string;
  readonly parameters: unknown[];
}

/** @returns lines for the output. The index is left nowhere. */
export async function measuredPlans(candidate: Candidate, name: string, createIndex: string): Promise<string[]> {
  const { dataSource } = candidate.plan.database;
  // Its DDL is not part of transactions.
  if (dataSource.options.type === 'cockroachdb') return [];
  const runner = dataSource.createQueryRunner('master');
  await runner.startTransaction();
  try {
    const statement = await statementOf(candidate, runner);
    if (!statement) return ['No record to measure with'];
    const before = `Before: ${await explain(statement, runner)}`;
    if (isMysql(dataSource)) return [before];
    const failure = await runner.query(createIndex).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (failure !== undefined) return [before, `The index cannot be created: ${failure}`];
    const after = await explain(statement, runner);
    return [before, `After: ${after}${after.includes(name) ? '' : '. The index is not used'}`];
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

const PAGE = 20;

/** The first page of an order, or else the count of what is equal, with the values of one record. */
async function statementOf({ plan, equal, sort }: Candidate, runner: QueryRunner): Promise<Statement | undefined> {
  const anyone = callAs(undefined, (roles) => roles);
  const call: Call = { ...anyone, transaction: beginTransaction(runner.manager, undefined) };
  const { visible } = plan.viewsFor(call.request).without;
  const { reader } = plan.store;
  const known = and(visible, ...equal.map((field) => compare(field, 'isNotNull')));
  const range = { limit: 1, offset: 0 };
  const [record] = await reader.find(call, { condition: known, fields: equal, sort: [], range });
  if (!record) return undefined;
  const condition: Condition = and(visible, ...equal.map((field) => compare(field, 'eq', valueAt(record, field.path))));
  const list = { condition, fields: plan.list.readable, sort };
  return capture(runner, () => {
    if (sort.length === 0) return reader.count(call, condition);
    if (plan.list.paged === 'cursor') return reader.findAfter(call, list, PAGE, undefined);
    return reader.find(call, { ...list, range: { limit: PAGE, offset: 0 } });
  });
}

const valueAt = (record: object, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], record);

/** The first statement that the work runs. It also brings the rows into the memory of the database. */
async function capture(runner: QueryRunner, work: () => Promise<unknown>): Promise<Statement | undefined> {
  const { subscribers } = runner.connection;
  const found: Statement[] = [];
  const subscriber: EntitySubscriberInterface = {
    beforeQuery: ({ queryRunner, query, parameters }) => {
      if (queryRunner === runner) found.push({ query, parameters: Array.isArray(parameters) ? parameters : [] });
    },
  };
  subscribers.push(subscriber);
  try {
    await work();
  } finally {
    subscribers.splice(subscribers.indexOf(subscriber), 1);
  }
  return found[0];
}

/** `620 ms, Seq Scan on product, Sort, Limit` */
async function explain({ query, parameters }: Statement, runner: QueryRunner): Promise<string> {
  const dataSource = runner.connection;
  const run = (prefix: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    runner.query(`${prefix}${query}`, parameters);
  if (!isSqlite(dataSource) && !isMysql(dataSource)) {
    const [row] = (await run('EXPLAIN (ANALYZE, FORMAT JSON) ')) as readonly { 'QUERY PLAN': readonly Explained[] }[];
    const [explained] = row?.['QUERY PLAN'] ?? [];
    return explained ? textOf(explained['Execution Time'], stepsOf(explained.Plan)) : 'no plan';
  }
  const start = performance.now();
  await run('');
  const elapsed = performance.now() - start;
  const steps = await run(isSqlite(dataSource) ? 'EXPLAIN QUERY PLAN ' : 'EXPLAIN FORMAT=TRADITIONAL ');
  return textOf(
    elapsed,
    steps.map(({ detail, table, type, key, Extra: extra }) =>
      String(detail ?? [`${String(table)}: ${String(type)}`, key ?? 'no index', extra].filter(Boolean).join(', ')),
    ),
  );
}

interface Explained {
  readonly 'Execution Time': number;
  readonly Plan: Step;
}

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Step[];
}

/** The steps in the order in which the database takes them. */
const stepsOf = (step: Step): string[] => {
  const { 'Node Type': type, 'Index Name': index, 'Relation Name': table, Plans: inner = [] } = step;
  const using = index === undefined ? '' : ` using ${index}`;
  return [...inner.flatMap(stepsOf), `${type}${using}${table === undefined ? '' : ` on ${table}`}`];
};

const textOf = (milliseconds: number, steps: readonly string[]): string =>
  `${Number(milliseconds.toPrecision(3))} ms, ${steps.join(', ')}`;
