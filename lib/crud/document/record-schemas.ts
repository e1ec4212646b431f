/** The schemas of a resource's records: as answers have them, and as bodies create, replace and change them. */
import type { Field } from '../../entities/entity-schema.js';
import { acceptsNull, orNull, type JsonSchema } from '../../entities/json-schema.js';
import { closedObject, openObject, refTo } from '../../documents/operation-document.js';
import type { FieldPermission } from '../declare/crud-options.js';
import { isInsertable } from '../rows/field-permissions.js';
import type { Relation } from '../sql/condition.js';
import type { DescribedResource } from './described-resource.js';

interface Property {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

export type BodyName = 'Create' | 'Replace' | 'Patch' | 'PatchItem';

export const bodyName = ({ names }: DescribedResource, body: BodyName): string => `${names.one}${body}`;

/** The envelope of a record. */
export const answerName = ({ names }: DescribedResource): string => `${names.one}Answer`;

export function recordSchema(resource: DescribedResource): JsonSchema {
  const { listWithDeleted, deletion, schema, fieldPermissions, included, isIncluded } = resource;
  const fields = schema.fields.flatMap((field): Property[] => {
    const { read }: FieldPermission = fieldPermissions.get(field) ?? {};
    if (!field.readable || read === 'never' || (field === deletion && !listWithDeleted.choosesDeleted)) return [];
    const { answer } = field.type.schemas;
    const sentence = read && `Only ${read.join(' and ')} read it.`;
    // A stored value that a transformer refuses is null.
    const value = withDescription(field.nullable || field.column.transformer ? orNull(answer) : answer, sentence);
    return [{ path: field.path, schema: value, isRequired: read === undefined && field !== deletion }];
  });
  const linked = listWithDeleted.linkable.map(({ name, relation }): Property => {
    const schema = { type: 'array', items: keyOf(resource, relation).answer };
    // Included records have no ids of linked ones.
    return { path: [name], schema, isRequired: !isIncluded };
  });
  const relations = [...included].map(([name, { relation, related }]): Property => {
    const record = refTo(related.names.one);
    const isMany = relation.isOneToMany || relation.isManyToMany;
    const value = isMany ? { type: 'array', items: record } : orNull(record);
    return { path: [name], schema: withDescription(value, 'Where `include` names it.'), isRequired: false };
  });
  return objectOf([...fields, ...linked, ...relations]);
}

export function bodySchema(resource: DescribedResource, body: BodyName): JsonSchema {
  const { schema, list } = resource;
  const key = body === 'PatchItem' ? schema.key.fields : [];
  const properties = [
    ...key.map(({ path, type }): Property => ({ path, schema: type.schemas.body, isRequired: true })),
    ...schema.fields
      .filter((field) => !key.includes(field))
      .flatMap((field) => propertyOfBody(resource, field, body) ?? []),
    ...list.linkable.map(({ name, relation }): Property => {
      const limit = body === 'Create' && { maxItems: 100 };
      const ids = { type: 'array', items: keyOf(resource, relation).body, ...limit };
      return { path: [name], schema: ids, isRequired: false };
    }),
  ];
  return objectOf(properties, body);
}

function propertyOfBody(resource: DescribedResource, field: Field, body: BodyName): Property | undefined {
  const { owner, options, deletion, pathParameters, fieldPermissions, refine } = resource;
  const { path, nullable, readable, type } = field;
  const { read, write }: FieldPermission = fieldPermissions.get(field) ?? {};
  const isCreation = body === 'Create';
  const isOwner = owner?.field === field;
  const isFixed = [...pathParameters.values()].includes(field);
  const isNever = write === 'never' || (isOwner && owner.except.length === 0) || (write === 'once' && !isCreation);
  const mayWrite = (isCreation ? isInsertable(field, options) : field.updatable) && !isNever;
  if (!mayWrite || isFixed) {
    // What GET answered can be sent back.
    const isKnown = readable && read !== 'never' && field !== deletion;
    if (isCreation ? !isFixed : !isKnown) return undefined;
    const origin = write === 'once' ? 'Set when the record is created' : 'Set by the server';
    const sentence = isFixed ? 'As in the path.' : `${origin}; may be sent unchanged.`;
    const value = nullable ? orNull(type.schemas.body) : type.schemas.body;
    return { path, schema: { ...withDescription(value, sentence), readOnly: true }, isRequired: false };
  }
  const roles = typeof write === 'object' ? write : isOwner ? owner.except : undefined;
  const { schema: value, refusesNull } = refine(field.property, type.schemas.body);
  const isNullable = nullable && !refusesNull;
  const isReplaced = body === 'Replace' && readable && read === undefined && !isNullable;
  const sentence = roles && `Only ${roles.join(' and ')} may write it.`;
  // A patch keeps what it does not send, and the database has what a transformer made.
  const initial: unknown = body.startsWith('Patch') || field.column.transformer ? undefined : field.column.default;
  const isText = value['type'] === 'string' && new RegExp((value['pattern'] ?? '') as string).test(String(initial));
  const hasDefault = ['number', 'boolean', isText && 'string'].includes(typeof initial);
  const described = withDescription(isNullable ? orNull(value) : value, sentence);
  return {
    path,
    schema: { ...described, ...(!readable && { writeOnly: true }), ...(hasDefault && { default: initial }) },
    isRequired: !field.hasDefault && roles === undefined && (isReplaced || (isCreation && !nullable)),
  };
}

const keyOf = ({ database }: DescribedResource, { inverseEntityMetadata }: Relation) =>
  database.describe(inverseEntityMetadata).key.schemas;

/** Appends a sentence to the description. */
function withDescription(schema: JsonSchema, sentence: string | undefined): JsonSchema {
  const description = [schema['description'], sentence].filter(Boolean).join(' ');
  return description === '' ? schema : { ...schema, description };
}

/** Fields with the same first name lie in one embedded object. @param body `undefined` for a record in an answer */
function objectOf(properties: readonly Property[], body?: BodyName): JsonSchema {
  const groups = new Map<string, Property[]>();
  for (const each of properties) {
    const [name = ''] = each.path;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, members] of groups) {
    const within = members.filter(({ path }) => path.length > 1).map((each) => ({ ...each, path: each.path.slice(1) }));
    const schema = within.length > 0 ? objectOf(within, body) : (members[0]?.schema ?? {});
    schemas[name] = within.length > 0 && body?.startsWith('Patch') && isClearable(schema) ? orNull(schema) : schema;
    // `include` puts the record in the place of the key, where one property declares both.
    const others = members.filter(({ path }) => path.length === 1).map((each) => each.schema);
    if (others.length > 1) schemas[name] = { anyOf: others };
  }
  const required = [...groups].filter(([, members]) => members.some(({ isRequired }) => isRequired));
  const names = required.map(([name]) => name);
  return body ? closedObject(schemas, names) : openObject(schemas, names);
}

/** A patch may clear an embedded object: `null` stands for `null` in each of its fields. */
const isClearable = ({ properties }: JsonSchema): boolean =>
  Object.values(properties as Record<string, JsonSchema>).every((each) => !each['readOnly'] && acceptsNull(each));
