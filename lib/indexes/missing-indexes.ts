/** `declarest indexes`: the indexes that requests of generated resources would use, and that nobody has created. */
import { ModuleRef } from '@nestjs/core';
import type { ColumnMetadata } from '../entities/column-types.js';
import { isMysql, isPostgres, isSqlite } from '../entities/database-family.js';
import { escapePath, inspectControllers, type Plan } from '../crud/inspect.js';
import { groupBy } from '../routes/route.js';
import { databaseIndexes, declaredIndexes, type Indexes } from './existing-indexes.js';
import { candidatesOf, fieldsOf, ordersOf, type Candidate } from './index-candidates.js';
import { measuredPlans } from './measured-plan.js';
import { scopeColumnsOf } from './scope-columns.js';

/**
 * SQL statements, with comments. Where the data source is connected, its own indexes count too, and each missing one is
 * measured.
 */
export async function describeMissingIndexes(app: { get(token: typeof ModuleRef): ModuleRef }): Promise<string> {
  const plans = new Set([...inspectControllers(app.get(ModuleRef)).values()].map(({ plan }) => plan));
  const candidates: Candidate[] = [];
  const notes = new Set<string>();
  for (const plan of plans) {
    const { alternatives, isUnknown } = await scopeColumnsOf(plan);
    candidates.push(...candidatesOf(plan, alternatives));
    for (const note of notesOf(plan)) notes.add(note);
    if (isUnknown) notes.add(`${plan.options.endpoint}: the columns of its scope are not known.`);
  }
  const blocks: string[][] = [];
  const tables = groupBy(candidates, ({ plan: { metadata } }) => metadata.tablePath);
  for (const [, same] of [...tables].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    for (const each of groupBy(same, ({ plan }) => plan.database.dataSource).values())
      blocks.push(...(await missingOf(each)));
  if (blocks.length === 0) blocks.push(['-- No index is missing.']);
  if (notes.size > 0) blocks.push([...notes].map((note) => `-- ${note}`));
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/** @param candidates of one table @returns the lines of each missing index */
async function missingOf(candidates: readonly Candidate[]): Promise<string[][]> {
  const [
    {
      plan: {
        metadata,
        database: { dataSource },
      },
    },
  ] = candidates as [Candidate];
  const declared = dataSource.entityMetadatas.filter(({ tablePath }) => tablePath === metadata.tablePath);
  const existing: Indexes = [
    ...declared.flatMap((each) => declaredIndexes(each, dataSource)),
    ...(dataSource.isInitialized ? await databaseIndexes(metadata, dataSource) : []),
  ];
  const missing = candidates.filter((each) => !existing.some((index) => serves(index, each)));
  const names = new Set(declared.flatMap(({ indices }) => indices.map(({ name }) => name)));
  const blocks: string[][] = [];
  for (const [candidate, uses] of longest(missing)) {
    const { name, statement, decorator } = indexOf(candidate, names);
    names.add(name);
    const plans = dataSource.isInitialized ? await measuredPlans(candidate, name, statement) : [];
    const comments = [uses.join(', '), `On ${candidate.plan.schema.name}: ${decorator}`, ...plans];
    blocks.push([...comments.map((line) => `-- ${line}`), `${statement};`]);
  }
  return blocks;
}

const columnsOf = (candidate: Candidate): string[] => fieldsOf(candidate).map(({ column }) => column.databaseName);

/** Whether an index begins with the columns, of which those that are compared may have any order. */
function serves(index: Indexes[number], candidate: Candidate): boolean {
  const columns = columnsOf(candidate);
  const compared = columns.slice(0, candidate.equal.length);
  const order = columns.slice(candidate.equal.length);
  const ties = order.length - 1 - order.findLastIndex((name) => !isInEachIndex(name, candidate.plan));
  const needed = order.slice(0, order.length - ties);
  const first = index.slice(0, compared.length);
  return (
    compared.every((name) => first.includes(name)) &&
    needed.every((name, place) => index[compared.length + place] === name)
  );
}

/** SQLite keeps the rowid in each index, and InnoDB the primary key. */
function isInEachIndex(column: string, { schema: { key }, database: { dataSource } }: Plan): boolean {
  const isKept = ({ generationStrategy }: ColumnMetadata): boolean =>
    isMysql(dataSource) || (isSqlite(dataSource) && generationStrategy === 'increment');
  return key.fields.some((field) => field.column.databaseName === column && isKept(field.column));
}

/** The candidates that the index of no other one serves, each with all requests that its index serves. */
function longest(candidates: readonly Candidate[]): [Candidate, string[]][] {
  const found: [Candidate, Set<string>][] = [];
  for (const each of candidates.toSorted((a, b) => columnsOf(b).length - columnsOf(a).length)) {
    const [, uses] = found.find(([longer]) => serves(columnsOf(longer), each)) ?? [];
    if (uses) uses.add(each.use);
    else found.push([each, new Set([each.use])]);
  }
  const key = ([each]: (typeof found)[number]): string => columnsOf(each).join();
  return found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(([each, uses]) => [each, [...uses].toSorted()]);
}

/** The name is that of the decorator, so that TypeORM keeps the index. It does not depend on the order of columns. */
function indexOf(candidate: Candidate, names: ReadonlySet<string>) {
  const {
    metadata,
    database: { dataSource },
  } = candidate.plan;
  const columns = columnsOf(candidate);
  const { namingStrategy, driver } = dataSource;
  const generated = namingStrategy.indexName(metadata.tableName, columns);
  const isTaken = names.has(generated);
  const name = isTaken ? namingStrategy.indexName(metadata.tableName, columns, columns.join()) : generated;
  const properties = [...new Set(fieldsOf(candidate).map(({ property }) => `'${property}'`))].join(', ');
  const table = escapePath(metadata.tablePath, driver);
  return {
    name,
    decorator: `@Index(${isTaken ? `'${name}', ` : ''}[${properties}])`,
    statement: `CREATE INDEX ${driver.escape(name)} ON ${table} (${columns.map((each) => driver.escape(each)).join(', ')})`,
  };
}

/** The requests that no statement above helps. */
function notesOf(plan: Plan): string[] {
  const { options, list, metadata, searchIndex, database } = plan;
  const { endpoint } = options;
  if (metadata.tableType === 'view') return [];
  const unsorted = ordersOf(plan).flatMap(({ use, problem }) =>
    problem === undefined ? [] : [`${use}: no index has its order: ${problem}.`],
  );
  const hasIndex = isPostgres(database.dataSource) || isSqlite(database.dataSource);
  const isSlow = options.enableSearch && list.searchable.size > 0 && !searchIndex && hasIndex;
  const extension = isPostgres(database.dataSource) ? ' of pg_trgm' : '';
  const advice = `set searchIndex, and \`declarest schema\` prints its index${extension}.`;
  return isSlow ? [...unsorted, `${endpoint}/search reads the whole table: ${advice}`] : unsorted;
}
