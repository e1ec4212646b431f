/**
 * Which way an operation takes to the table. What an entity declares decides: whatever the compiled statements do not
 * carry exactly goes through the repository.
 */
import { Repository, type DataSource, type EntityMetadata, type EntitySubscriberInterface } from 'typeorm';
import { isSqlite } from '../../entities/database-family.js';
import type { ResolvedCrudOptions } from '../crud-options.js';
import { compilesStatements } from './statement.js';

export type Access = 'read' | 'create' | 'update' | 'delete';

/** Why an access goes through the repository; one without a reason is compiled. */
export type Reasons = Readonly<Partial<Record<Access, string>>>;

/** `Product: findAll, findById, create compiled; update through the repository (a subscriber)` */
export function describePaths({ entity, enableSearch, enableExists }: ResolvedCrudOptions, reasons: Reasons): string {
  const reads = ['findAll', 'findById', ...(enableSearch ? ['search'] : []), ...(enableExists ? ['exists'] : [])];
  const operations: Readonly<Record<Access, string>> = {
    read: reads.join(', '),
    create: 'create',
    update: 'update',
    delete: 'delete',
  };
  const accesses = Object.keys(operations) as Access[];
  const compiled = accesses.filter((access) => reasons[access] === undefined).map((access) => operations[access]);
  const others = accesses.flatMap((access) =>
    reasons[access] === undefined ? [] : [`${operations[access]} through the repository (${reasons[access]})`],
  );
  return `${entity.name}: ${[...(compiled.length > 0 ? [`${compiled.join(', ')} compiled`] : []), ...others].join('; ')}`;
}

type Hook = keyof EntitySubscriberInterface;

const HOOKS: Readonly<Record<Access, readonly Hook[]>> = {
  read: ['afterLoad'],
  create: ['beforeInsert', 'afterInsert'],
  update: ['beforeUpdate', 'afterUpdate'],
  delete: ['beforeRemove', 'afterRemove', 'beforeSoftRemove', 'afterSoftRemove'],
};

/** What an entity may declare that no compiled statement carries. */
const FEATURES: readonly [reason: string, declares: (metadata: EntityMetadata, dataSource: DataSource) => boolean][] = [
  ['a view', ({ tableType }) => tableType === 'view'],
  [
    // Classes that share a table; one that extends another and has a table of its own is as any other.
    'inheritance',
    ({ inheritancePattern, parentEntityMetadata }) =>
      inheritancePattern !== undefined || parentEntityMetadata !== undefined,
  ],
  ['a tree', ({ treeType }) => treeType !== undefined],
  ['embedded columns', ({ embeddeds }) => embeddeds.length > 0],
  ['an eager relation', ({ eagerRelations }) => eagerRelations.length > 0],
  ['a value transformer', ({ columns }) => columns.some(({ transformer }) => transformer !== undefined)],
  ['a column written by a function of the database', isWrittenByFunction],
  // The query builder makes a text of it, which alone the driver of SQLite binds.
  [
    'a key that is a date',
    ({ primaryColumns }, dataSource) =>
      isSqlite(dataSource) && primaryColumns.some(({ type }) => type === Date || type === 'datetime'),
  ],
  ['a virtual column', ({ columns }) => columns.some(({ isVirtualProperty }) => isVirtualProperty)],
  ['a column behind a getter or setter', hasAccessors],
  ['a column whose default is a function', hasFunctions],
  // TypeORM takes the key of what is there for the value of the relation's column, also of one that is sent.
  ['a relation that its constructor fills', fillsRelations],
];

/** Whether a repository is TypeORM's own of the data source, and not one that a provider has put in its place. */
export function isUnaltered(repository: Repository<never> | object, { manager }: DataSource): boolean {
  const { manager: own, queryRunner, target: _target, ...others } = repository as Repository<never>;
  return (
    Object.getPrototypeOf(repository) === Repository.prototype &&
    own === manager &&
    queryRunner === undefined &&
    Object.keys(others).length === 0
  );
}

/** @param feature what keeps every access from being compiled */
export function reasonsNotCompiled(
  metadata: EntityMetadata,
  dataSource: DataSource,
  feature: string | undefined,
): Reasons {
  const reasons: Partial<Record<Access, string>> = {};
  for (const access of Object.keys(HOOKS) as Access[]) {
    const reason = feature ?? listenerOf(metadata, HOOKS[access]) ?? subscriberOf(metadata, dataSource, HOOKS[access]);
    if (reason !== undefined) reasons[access] = reason;
  }
  return reasons;
}

/** What keeps every access from being compiled. */
export function featureNotCompiled(metadata: EntityMetadata, dataSource: DataSource): string | undefined {
  if (!compilesStatements(dataSource)) return `the driver ${dataSource.options.type}`;
  const { cache } = dataSource.options;
  if (typeof cache === 'object' && 'alwaysEnabled' in cache && cache.alwaysEnabled) return 'the query cache';
  return FEATURES.find(([, declares]) => declares(metadata, dataSource))?.[0];
}

/**
 * Whether every name is a plain word, which a statement holds as it is. Other names, and properties that every object
 * has, such as `constructor`, may confuse the query builder: their statements are compiled at startup, as a test.
 */
export function hasPlainNames({ tablePath, columns, relations }: EntityMetadata): boolean {
  const names = [...columns, ...relations].map(({ propertyName }) => propertyName);
  return (
    tablePath.split('.').every(isWord) &&
    columns.every(({ databaseName }) => isWord(databaseName)) &&
    names.every((name) => isWord(name) && !(name in Object.prototype))
  );
}

const isWord = (name: string): boolean => /^[a-z_]\w*$/i.test(name);

function listenerOf({ listeners }: EntityMetadata, hooks: readonly Hook[]): string | undefined {
  const listener = listeners.find(({ type }) => hooks.includes(hookOf(type)));
  return listener && `its @${capitalized(hookOf(listener.type))} listener`;
}

/** TypeORM names them `after-load`, a subscriber's method `afterLoad`. */
const hookOf = (type: string): Hook => type.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) as Hook;
const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

function subscriberOf(
  { target }: EntityMetadata,
  { subscribers }: DataSource,
  hooks: readonly Hook[],
): string | undefined {
  const found = subscribers.find(
    (subscriber) => hooks.some((name) => subscriber[name] !== undefined) && listensTo(subscriber, target),
  );
  return found && `the subscriber ${found.constructor.name}`;
}

/** As TypeORM's broadcaster decides. */
function listensTo(subscriber: EntitySubscriberInterface, target: EntityMetadata['target']): boolean {
  const listened = subscriber.listenTo?.();
  if (listened === undefined || listened === null || listened === Object || listened === target) return true;
  return typeof listened === 'function' && typeof target === 'function' && target.prototype instanceof listened;
}

function hasAccessors(metadata: EntityMetadata): boolean {
  const blank = metadata.create() as object;
  return metadata.columns.some(({ propertyName, relationMetadata }) => {
    // A lazy relation is one, and is read by its column.
    if (relationMetadata) return false;
    let holder: object | null = blank;
    while (holder && !Object.hasOwn(holder, propertyName)) holder = Object.getPrototypeOf(holder) as object | null;
    const descriptor = holder ? Object.getOwnPropertyDescriptor(holder, propertyName) : undefined;
    return descriptor?.get !== undefined || descriptor?.set !== undefined;
  });
}

/** Spatial types, and `jsonb` on SQLite. */
function isWrittenByFunction({ columns }: EntityMetadata, dataSource: DataSource): boolean {
  const { spatialTypes = [] } = dataSource.driver as { spatialTypes?: readonly unknown[] };
  return columns.some(({ type }) => spatialTypes.includes(type) || (type === 'jsonb' && isSqlite(dataSource)));
}

function hasFunctions(metadata: EntityMetadata): boolean {
  const blank = metadata.create() as object;
  // A column of a lazy relation would load it.
  const columns = metadata.columns.filter(({ relationMetadata }) => !relationMetadata);
  return columns.some((column) => typeof column.getEntityValue(blank) === 'function');
}

function fillsRelations(metadata: EntityMetadata): boolean {
  const blank = metadata.create() as object;
  return metadata.relations.some(
    ({ propertyName }) => Object.getOwnPropertyDescriptor(blank, propertyName)?.value != null,
  );
}
