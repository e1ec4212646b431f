/** Which unique or foreign-key constraint a write violated, in the names that clients know. */
import { QueryFailedError, type EntityManager, type EntityMetadata } from 'typeorm';
import { ACCEPTED, toDatabase, type ColumnMetadata } from './column-types.js';
import type { EntityDescription, Field } from './entity-schema.js';
import type { FieldError } from '../http/failure.js';
import { isKnownTo, UNRESTRICTED, type Permissions } from './permissions.js';
import { DATABASE_DEFAULT, type Values } from './record-input.js';

export interface FailedWrite {
  readonly operation: 'create' | 'update' | 'delete';
  readonly schema: EntityDescription;
  readonly manager: EntityManager;
  readonly rows?: readonly Values[];
  /** Permissions of the client; messages name no other fields. */
  readonly permissions?: Permissions;
}

export interface Conflict {
  /** One sentence, without names of tables and constraints. */
  readonly message: string;
  readonly fields?: Readonly<Record<string, string>>;
}

type Write = Pick<FailedWrite, 'operation' | 'schema'>;

/** @param names of the fields that the sentence is about, which begins with them where there is one */
export function conflictOf({ schema, operation }: Write, reason: string, names: readonly string[] = []): Conflict {
  const subject = names.length === 1 ? `${names[0]} ` : '';
  const message = `${schema.name} cannot be ${operation}d: ${subject}${reason}`;
  return names.length === 0
    ? { message }
    : { message, fields: Object.fromEntries(names.map((name) => [name, reason])) };
}

/** The message for a write that a trigger or a rule swallowed. */
export const ignoredStatement = ({ name }: EntityDescription): string =>
  `${name} was not changed: the database ignored the statement`;

/** The fields whose unique value, or combination of values, is taken; none for another violation. */
export function takenFields(error: unknown, schema: EntityDescription): string[] {
  const violation = violationOf(error);
  if (violation?.kind !== 'unique') return [];
  return namesOf(columnsOf(violation, schema.metadata), schema);
}

/** @param error an `invalid` of `databaseFailureOf` @returns none where the database does not say which fields they are */
export function invalidFields(error: unknown, { schema, permissions, rows = [] }: FailedWrite): FieldError[] {
  if (!(error instanceof QueryFailedError)) return [];
  const fields = error.driverError as unknown as DriverFields;
  const { metadata } = schema;
  const named = (message: string, ...columns: (ColumnMetadata | undefined)[]): FieldError[] =>
    namesOf(columns, schema, permissions).map((field) => ({ field, message }));
  return [
    ...named('is required', missingColumn(fields, metadata)),
    ...named('is too long for an index', tooLongColumn(fields, schema, rows)),
    ...named('does not meet a constraint', ...checkedColumns(fields, metadata)),
    ...named(`must be ${ACCEPTED}`, ...refusedColumns(fields, metadata, rows)),
  ];
}

const CHECKED =
  /^(?:CHECK constraint failed: |CONSTRAINT `|Check constraint ')(.+?)(?:` failed for .*|' is violated\.)?$/;
/** The fields of a CHECK, which databases name, or quote. MariaDB names that of a column by the column. */
function checkedColumns({ code, message = '', constraint }: DriverFields, { checks, columns }: EntityMetadata) {
  const name = code === '23514' ? constraint : CHECKED.exec(message)?.[1];
  const sql = checks.find((each) => each.name === name)?.expression ?? name ?? '';
  const words = sql.replaceAll(/'[^']*'/g, '').split(/\W+/);
  return columns.filter(({ databaseName }) => words.includes(databaseName));
}

/** MySQL and MariaDB name the column, PostgreSQL quotes the value. */
function refusedColumns({ code, message = '' }: DriverFields, { columns }: EntityMetadata, rows: readonly Values[]) {
  const [, name] = /for column (?:`[^`]+`\.`[^`]+`\.)?['`]([^'`]+)['`](?: at row \d+)?$/.exec(message) ?? [];
  if (name !== undefined) return columns.filter(({ databaseName }) => databaseName === name);
  const [, value] = /"(.*)"/s.exec(code?.startsWith('22') ? message : '') ?? [];
  const isRefused = ([{ column }, sent]: [Field, unknown]): boolean => String(toDatabase(column, sent)) === value;
  const found = new Set(rows.flatMap((row) => [...row].filter(isRefused).map(([{ column }]) => column)));
  return found.size === 1 ? [...found] : [];
}

function missingColumn(
  { code, message = '', table, column }: DriverFields,
  { tableName, columns }: EntityMetadata,
): ColumnMetadata | undefined {
  const [, sqliteTable, sqlite] = /NOT NULL constraint failed: ([^.]+)\.(.+)$/.exec(message) ?? [];
  const [, mysql] = /^(?:Column|Field) '(.+)' (?:cannot be null|doesn't have a default value)/.exec(message) ?? [];
  const name = (code === '23502' ? column : undefined) ?? sqlite ?? mysql;
  if (name === undefined || (sqliteTable ?? table ?? tableName) !== tableName) return undefined;
  return columns.find(({ databaseName }) => databaseName === name);
}

/** The one with the longest text, of the index that PostgreSQL names, or of all. */
function tooLongColumn(
  { code, table, constraint }: DriverFields,
  { metadata }: EntityDescription,
  rows: readonly Values[],
): ColumnMetadata | undefined {
  const { tableName, indices, uniques } = metadata;
  if (!code?.startsWith('54') || (table ?? tableName) !== tableName) return undefined;
  const indexes = [...indices, ...uniques].filter(({ name }) => constraint === undefined || name === constraint);
  const indexed = new Set(indexes.flatMap(({ columns }) => columns));
  const isText = ([{ column }, value]: [Field, unknown]): boolean => indexed.has(column) && typeof value === 'string';
  const texts = rows.flatMap((values) => [...values].filter(isText)) as [Field, string][];
  return texts.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0].column;
}

/**
 * Names no field or relation if the database does not say which, or if clients do not know it.
 * @param error a `conflict` of `databaseFailureOf`
 */
export async function describeConflict(error: unknown, write: FailedWrite): Promise<Conflict> {
  const { schema, operation, permissions } = write;
  const violation = violationOf(error);
  if (!violation) return conflictOf(write, 'it conflicts with another record');
  const columns = columnsOf(violation, schema.metadata);
  const names = namesOf(columns, schema, permissions);
  if (violation.kind === 'unique') {
    const combined = `the combination of ${names.slice(0, -1).join(', ')} and ${names.at(-1)} `;
    const subject = names.length > 1 ? combined : names.length === 0 ? 'a unique value ' : '';
    return conflictOf(write, `${subject}is already taken`, names);
  }
  if (violation.kind === 'referenced' || operation === 'delete' || isReferenced(violation, schema.metadata))
    return conflictOf(write, REFERENCED);
  const isUnnamed = columns.length === 0 && violation.constraint === undefined;
  const relation = isUnnamed ? await findMissingReference(write) : names[0];
  // Otherwise the constraint belongs to another table: a column that other records refer to was changed.
  const isOwn = columns.length > 0 || relation !== undefined || operation === 'create';
  return isOwn ? missing(write, relation) : conflictOf(write, REFERENCED);
}

/** Used by checks before the write. */
export const describeMissingReference = (
  { permissions, ...write }: Write & Pick<FailedWrite, 'permissions'>,
  fields: readonly Field[],
): Conflict => {
  const columns = fields.map(({ column }) => column);
  return missing(write, namesOf(columns, write.schema, permissions)[0]);
};

const MISSING = 'refers to a record that does not exist';
const missing = (write: Write, name: string | undefined): Conflict =>
  name === undefined ? conflictOf(write, `it ${MISSING}`) : conflictOf(write, MISSING, [name]);

const REFERENCED = 'other records refer to it';

type DriverFields = Readonly<
  Record<'code' | 'message' | 'table' | 'column' | 'constraint' | 'detail', string | undefined>
>;

interface Violation {
  readonly kind: 'unique' | 'foreign key' | 'referenced';
  readonly table?: string | undefined;
  readonly constraint?: string | undefined;
  readonly columns?: readonly string[];
}

function violationOf(error: unknown): Violation | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  const { code, message = '', table, constraint, detail } = error.driverError as unknown as DriverFields;
  // SQLite: `UNIQUE constraint failed: product.name, product.size`, or `index 'name'`.
  const [, unique] = /UNIQUE constraint failed: (.+)$/.exec(message) ?? [];
  if (unique !== undefined) {
    const [, index] = /^index '(.+)'$/.exec(unique) ?? [];
    const names = unique.split(', ').map((name) => name.split('.'));
    return { kind: 'unique', table: names[0]?.[0], constraint: index, columns: names.map(([, column = '']) => column) };
  }
  if (message.includes('FOREIGN KEY constraint failed')) return { kind: 'foreign key' };
  // PostgreSQL: `Key (name, size)=(Pen, 1) already exists.`
  if (code === '23505' || code === '23503' || code === '23001') {
    const [, names = ''] = /\((.+?)\)=\(/.exec(detail ?? '') ?? [];
    const columns = names.split(', ').map((name) => name.replaceAll('"', ''));
    return { kind: code === '23505' ? 'unique' : 'foreign key', table, constraint: constraint ?? '', columns };
  }
  // MySQL, MariaDB: `Duplicate entry 'Pen-1' for key 'IDX_name'`; MySQL adds the table to the key.
  const [, key] = /for key '(?:[^'.]+\.)?([^']+)'$/.exec(message) ?? [];
  if (key !== undefined) return { kind: 'unique', constraint: key, columns: [key] };
  const [, owner, name, column = ''] = /`([^`]+)`, CONSTRAINT `([^`]+)` FOREIGN KEY \(`([^`]+)`/.exec(message) ?? [];
  if (owner === undefined) return undefined;
  const kind = String(code).startsWith('ER_ROW_IS_REFERENCED') ? 'referenced' : 'foreign key';
  return { kind, table: owner, constraint: name, columns: [column] };
}

/** Finds it by the name of the constraint, or by its columns if a migration chose another name. */
function columnsOf({ table, constraint, columns = [], kind }: Violation, metadata: EntityMetadata): ColumnMetadata[] {
  const { uniques, indices, foreignKeys, primaryColumns, tableName } = metadata;
  const constraints = kind === 'unique' ? [...uniques, ...indices] : foreignKeys;
  const found = constraints.find(({ name }) => name === constraint)?.columns;
  if (found) return found;
  if (constraint === 'PRIMARY') return primaryColumns;
  if (table !== undefined && table !== tableName) return [];
  const named = columns.map((each) => metadata.columns.find(({ databaseName }) => databaseName === each));
  return named.every((column) => column !== undefined) ? named : [];
}

const namesOf = (
  columns: readonly (ColumnMetadata | undefined)[],
  { fields }: EntityDescription,
  permissions: Permissions = UNRESTRICTED,
): string[] =>
  fields.filter((field) => columns.includes(field.column) && isKnownTo(field, permissions)).map(({ name }) => name);

/** PostgreSQL has one code for both sides of a foreign key. For the other side, the detail has the referenced columns. */
function isReferenced({ kind, constraint, columns = [] }: Violation, { foreignKeys }: EntityMetadata): boolean {
  const own = kind === 'foreign key' ? foreignKeys.find(({ name }) => name === constraint) : undefined;
  const names = own?.columns.map(({ databaseName }) => databaseName) ?? [];
  return own !== undefined && columns.length > 0 && !columns.some((name) => names.includes(name));
}

/** SQLite does not say which foreign key failed, so the referenced records are looked up. */
async function findMissingReference({
  schema,
  manager,
  rows = [],
  permissions,
}: FailedWrite): Promise<string | undefined> {
  const { foreignKeys } = schema.metadata;
  for (const { columns, referencedColumns, referencedEntityMetadata } of foreignKeys) {
    const fields = columns.map((column) => schema.fields.find((field) => field.column === column));
    const referenced = manager.getRepository(referencedEntityMetadata.target);
    for (const row of rows) {
      const values = fields.map((field) => field && row.get(field));
      if (values.some((value) => value == null || value === DATABASE_DEFAULT)) continue;
      // `exists` may answer from the query cache.
      const where = Object.fromEntries(
        referencedColumns.map(({ propertyName }, index) => [propertyName, values[index]]),
      );
      if ((await referenced.count({ where, withDeleted: true, cache: false })) === 0)
        return namesOf(columns, schema, permissions)[0];
    }
  }
  return undefined;
}
