/** The schemas of a resource's records: as answers have them, and as bodies create, replace and change them. */
import type { Narrow } from '../../entities/class-validation.js';
import type { Field } from '../../entities/entity-schema.js';
import { acceptsNull, orNull, type JsonSchema } from '../../entities/json-schema.js';
import { closedObject, described, openObject, refTo, type NamedSchema } from '../../documents/operation-document.js';
import type { FieldPermission } from '../declare/crud-options.js';
import { isInsertable } from '../rows/field-permissions.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';

export interface Described {
  readonly resource: DescribedResource;
  readonly names: ResourceNames;
  nameOf(resource: DescribedResource): string;
  readonly narrow: Narrow;
}

interface Property {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

export const schemaName = {
  record: ({ one }: ResourceNames) => one,
  create: ({ one }: ResourceNames) => `${one}Create`,
  replace: ({ one }: ResourceNames) => `${one}Replace`,
  patch: ({ one }: ResourceNames) => `${one}Patch`,
  patchItem: ({ one }: ResourceNames) => `${one}PatchItem`,
};

export type BodyName = Exclude<keyof typeof schemaName, 'record'>;

export const recordSchema = (described: Described): NamedSchema => ({
  name: schemaName.record(described.names),
  schema: objectOf(recordProperties(described), openObject),
});

export const createSchema = (described: Described): NamedSchema => ({
  name: schemaName.create(described.names),
  schema: objectOf(bodyProperties(described, 'create'), closedObject),
});

export const replaceSchema = (described: Described): NamedSchema => ({
  name: schemaName.replace(described.names),
  schema: objectOf(bodyProperties(described, 'update'), closedObject),
});

export const patchSchema = (described: Described): NamedSchema => ({
  name: schemaName.patch(described.names),
  schema: objectOf(bodyProperties(described, 'patch'), clearableObject),
});

export function patchItemSchema(described: Described): NamedSchema {
  const { fields } = described.resource.schema.key;
  const isKey = ({ path }: Property): boolean => fields.some(({ name }) => name === path.join('.'));
  const properties = bodyProperties(described, 'patch').filter((each) => !isKey(each));
  const key = fields.map(({ path, type }) => ({ path, schema: type.schemas.body, isRequired: true }));
  return { name: schemaName.patchItem(described.names), schema: objectOf([...key, ...properties], clearableObject) };
}

function recordProperties({ resource, nameOf }: Described): Property[] {
  const { listWithDeleted, deletion, schema, relations } = resource;
  const fields = schema.fields
    .filter((field) => field.readable)
    .flatMap((field): Property[] => {
      const { read } = permissionOf(resource, field);
      if (read === 'never') return [];
      if (field === deletion && !listWithDeleted.choosesDeleted) return [];
      const isOptional = read !== undefined || field === deletion;
      const sentence = read !== undefined && `Only ${read.join(' and ')} read it.`;
      return [{ path: field.path, schema: described(answerOf(field), sentence), isRequired: !isOptional }];
    });
  const linked = listWithDeleted.linkable.map(({ name, path }): Property => {
    const ids = { type: 'array', items: idOf(relations, path, 'answer') };
    // Included records have none.
    return { path: [name], schema: ids, isRequired: !resource.isIncluded };
  });
  const included = [...resource.included].map(([name, { relation, related }]): Property => {
    const record = refTo(nameOf(related));
    const list = { type: 'array', items: record };
    const isMany = relation.isOneToMany || relation.isManyToMany;
    const schema = described(isMany ? list : orNull(record), 'Where `include` names it.');
    return { path: [name], schema, isRequired: false };
  });
  return [...fields, ...linked, ...included];
}

type Kind = 'create' | 'update' | 'patch';

function bodyProperties(about: Described, kind: Kind): Property[] {
  const { resource } = about;
  const fields = resource.schema.fields.flatMap((field) => fieldOfBody(about, field, kind) ?? []);
  const linked = resource.list.linkable.map(({ name, path }): Property => {
    const ids = { type: 'array', items: idOf(resource.relations, path, 'body'), maxItems: 100 };
    return { path: [name], schema: ids, isRequired: false };
  });
  return [...fields, ...linked];
}

function fieldOfBody({ resource, narrow }: Described, field: Field, kind: Kind): Property | undefined {
  const { read, write } = permissionOf(resource, field);
  const { owner } = resource;
  const isOwner = owner?.field === field;
  const isFixed = [...resource.pathParameters.values()].includes(field);
  const isNever =
    write === 'never' || (isOwner && owner.except.length === 0) || (write === 'once' && kind !== 'create');
  const mayWrite = (kind === 'create' ? isInsertable(field, resource.options) : field.updatable) && !isNever;
  const path = field.path;
  if (!mayWrite || isFixed) {
    // What GET answered can be sent back.
    const isKnown = field.readable && read !== 'never' && field !== resource.deletion;
    if (kind === 'create' ? !isFixed : !isKnown) return undefined;
    const sentence = isFixed
      ? 'As in the path.'
      : write === 'once'
        ? 'Set when the record is created; may be sent unchanged.'
        : 'Set by the server; may be sent unchanged.';
    const { body } = field.type.schemas;
    const value = field.nullable ? orNull(body) : body;
    return { path, schema: { ...described(value, sentence), readOnly: true }, isRequired: false };
  }
  const roles = typeof write === 'object' ? write : isOwner ? owner.except : undefined;
  const { schema: value, refusesNull } = narrow(field.property, field.type.schemas.body);
  const isNullable = field.nullable && !refusesNull;
  const schema = isNullable ? orNull(value) : value;
  const isReplaced = field.readable && read === undefined;
  const isRequired =
    !field.hasDefault &&
    roles === undefined &&
    ((kind === 'create' && !field.nullable) || (kind === 'update' && !isNullable && isReplaced));
  return {
    path,
    schema: {
      ...described(schema, roles && `Only ${roles.join(' and ')} may write it.`),
      ...(!field.readable && { writeOnly: true }),
      ...defaultOf(field),
    },
    isRequired,
  };
}

function defaultOf({ column: { default: value } }: Field): JsonSchema {
  return typeof value === 'number' || typeof value === 'boolean' ? { default: value } : {};
}

export const answerOf = ({ type, nullable }: Field): JsonSchema =>
  nullable ? orNull(type.schemas.answer) : type.schemas.answer;

const idOf = (relations: DescribedResource['relations'], path: string, kind: 'answer' | 'body'): JsonSchema =>
  relations.get(path)?.schema.key.schemas[kind] ?? {};

const permissionOf = ({ fieldPermissions }: DescribedResource, field: Field) =>
  (fieldPermissions.get(field) ?? {}) as FieldPermission;

/** A patch may clear an embedded object: `null` stands for `null` in each of its fields. */
const clearableObject: MakeObject = (properties, required, isEmbedded) => {
  const schema = closedObject(properties, required);
  const isClearable = Object.values(properties).every((each) => each['readOnly'] !== true && acceptsNull(each));
  return isEmbedded && isClearable ? orNull(schema) : schema;
};

type MakeObject = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  isEmbedded?: boolean,
) => JsonSchema;

/** Fields with the same first name lie in one embedded object. */
function objectOf(properties: readonly Property[], make: MakeObject, isEmbedded = false): JsonSchema {
  const groups = new Map<string, Property[]>();
  for (const each of properties) {
    const [name = ''] = each.path;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const schemas: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, members] of groups) {
    const within = members.filter(({ path }) => path.length > 1).map((each) => ({ ...each, path: each.path.slice(1) }));
    schemas[name] = within.length > 0 ? objectOf(within, make, true) : (members[0]?.schema ?? {});
    if (members.some(({ isRequired }) => isRequired)) required.push(name);
  }
  return make(schemas, required, isEmbedded);
}
