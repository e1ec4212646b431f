/** Checks the options that restrict rows and fields, and finds the fields that they name. */
import type { Type } from '@nestjs/common';
import { describe } from '../../options/invalid-option.js';
import { guardOf } from '../../entities/entity-guard.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import type { FieldPermission } from '../declare/crud-options.js';
import type { ValueType } from '../../entities/value-types.js';
import { fieldNames, refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { FieldPermissions } from '../rows/field-permissions.js';
import type { Ownership } from '../rows/owner.js';
import type { Database } from '../store/database.js';
import { ScopeReference, type ScopeContext, type ScopeFunction, type ScopeProvider } from '../declare/scope.js';

/** The options of a resource, and what they name. */
export interface DeclaredResource {
  readonly options: ResolvedCrudOptions;
  readonly schema: EntityDescription;
  readonly database: Database;
}

/** The provider of a class, of any module; `undefined` where there is none that lives as long as the application. */
export type FindProvider = (provider: Type) => unknown;

export function compileScope(options: ResolvedCrudOptions, findProvider: FindProvider) {
  const { scope } = options;
  if (!(scope instanceof ScopeReference)) return scope as ScopeFunction<object> | undefined;
  const provider = findProvider(scope.provider) as ScopeProvider<object> | undefined;
  if (typeof provider?.scope === 'function') return (context: ScopeContext) => provider.scope(context);
  const expected = 'useScope(…) of a provider of the application';
  const advice = 'add the class to the `providers` of a module, without a request scope, and give it a method `scope`';
  return refuseOption(options, 'scope', expected, describe(scope.provider), advice);
}

export function compileOwner({ options, schema, database }: DeclaredResource): Ownership | undefined {
  const { owner } = options;
  if (owner === undefined) return undefined;
  const declared = typeof owner === 'string' ? { field: owner } : owner;
  const { field: name, reads = false, except = [], claim = 'id' } = declared;
  const expected = claim === 'id' ? userIdIn(database) : undefined;
  const isOwnable = ({ insertable, type }: Field): boolean =>
    insertable &&
    (expected ? kindOf(type) === kindOf(expected.type) : ['integer', 'text', 'uuid'].includes(kindOf(type) ?? ''));
  const field = schema.fields.find((each) => each.name === name && isOwnable(each));
  if (field) return { field, claim, reads, except };
  const advice = 'name the column that holds the id of the user and has its type, such as `ownerId`';
  const fitting = schema.fields.filter(isOwnable);
  const none = `a field with the type of the user's id${expected ? ` (${kindOf(expected.type)})` : ''}, which none has`;
  return refuseOption(options, 'owner', fitting.length > 0 ? fieldNames(fitting) : none, describe(name), advice);
}

function kindOf({ comparison, readText }: ValueType): string | undefined {
  return comparison?.endsWith('number') && !('value' in readText('0.5')) ? 'integer' : comparison;
}

/** The id of the class of users, where the data source knows it. */
function userIdIn({ dataSource, describe }: Database): Field | undefined {
  const users = dataSource.entityMetadatas.find(({ target }) => guardOf(target));
  return users && describe(users).key.fields[0];
}

export function compileFieldPermissions({ options, schema }: DeclaredResource): FieldPermissions {
  const entries = Object.entries(options.fieldPermissions).map(([name, permission]): [Field, FieldPermission] => {
    const field = schema.fields.find((each) => each.name === name);
    if (field) return [field, permission];
    return refuseOption(options, 'fieldPermissions', fieldNames(schema.fields), describe(name), 'name its fields');
  });
  const permissions = new Map(entries);
  for (const name of guardOf(options.entity)?.reserved ?? []) {
    const field = schema.fields.find((each) => each.name === name);
    const declared = field && permissions.get(field);
    // Only named roles may write it.
    if (field && typeof declared?.write !== 'object') permissions.set(field, { ...declared, write: 'never' });
  }
  return permissions;
}

export function compilePathParameters({ options, schema }: DeclaredResource): ReadonlyMap<string, Field> {
  const names = options.endpoint.split('/').flatMap((level) => (level.startsWith(':') ? [level.slice(1)] : []));
  const fits = ({ insertable, type }: Field): boolean => insertable && type.comparison !== undefined;
  const fields = names.map((name): [string, Field] => {
    const field = schema.fields.find((each) => each.name === name && fits(each));
    if ((options.fieldPermissions as Record<string, FieldPermission>)[name]?.read !== undefined) {
      const expected = 'a path with parameters that every caller may read';
      refuseOption(options, 'endpoint', expected, `:${name}`, `leave \`read\` of ${name} out of fieldPermissions`);
    }
    if (field) return [name, field];
    const expected = `a path whose parameters are ${fieldNames(schema.fields.filter(fits))}`;
    const advice = 'name each parameter as the field that it restricts';
    return refuseOption(options, 'endpoint', expected, `:${name}`, advice);
  });
  return new Map(fields);
}
