/** The decorators of class-validator, an optional peer dependency: what they check, and how a JSON Schema says it. */
import type { ValidationError } from 'class-validator';
import type { FieldError } from '../http/failure.js';
import type { JsonSchema } from './json-schema.js';
import { requireOptional } from './optional-package.js';

type Describe = (...constraints: readonly unknown[]) => JsonSchema;

const DECORATORS: Readonly<Record<string, Describe>> = {
  min: (minimum) => ({ minimum }),
  max: (maximum) => ({ maximum }),
  isPositive: () => ({ exclusiveMinimum: 0 }),
  isNegative: () => ({ exclusiveMaximum: 0 }),
  isInt: () => ({ type: 'integer' }),
  minLength: (minLength) => ({ minLength }),
  maxLength: (maxLength) => ({ maxLength }),
  isLength: (minLength, maxLength) => ({ minLength, ...(maxLength !== undefined && { maxLength }) }),
  isNotEmpty: () => ({ minLength: 1 }),
  isEmail: () => ({ format: 'email' }),
  isUrl: () => ({ format: 'uri' }),
  isIn: (values) => ({ enum: values }),
  matches: (pattern) => (pattern instanceof RegExp && pattern.flags === '' ? { pattern: pattern.source } : {}),
  arrayMinSize: (minItems) => ({ minItems }),
  arrayMaxSize: (maxItems) => ({ maxItems }),
  arrayUnique: () => ({ uniqueItems: true }),
};

/** Adds to the schema of a property what its decorators say. They refuse `null`, unless one is `@IsOptional()`. */
export type RefineSchema = (
  property: string,
  schema: JsonSchema,
) => { readonly schema: JsonSchema; readonly refusesNull: boolean };

/** Decorators without options have no groups, although the types say so. */
const isInGroup = ({ groups }: { readonly groups?: readonly string[] }): boolean => (groups ?? []).length > 0;

export function schemaRefinements(): (target: Function) => RefineSchema {
  const library = requireOptional<typeof import('class-validator')>('class-validator');
  if (!library) return () => (_property, schema) => ({ schema, refusesNull: false });
  const { ValidationTypes } = library;
  return (target) => {
    const decorators = library.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
    return (property, schema) => {
      const own = decorators.filter((each) => each.propertyName === property && !each.each && !isInGroup(each));
      const described = own.flatMap(
        ({ name = '', constraints }): readonly JsonSchema[] | JsonSchema =>
          DECORATORS[name]?.(...((constraints ?? []) as unknown[])) ?? [],
      );
      const isOptional = own.some(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION);
      return { schema: described.reduce(refineBy, schema), refusesNull: described.length > 0 && !isOptional };
    };
  };
}

function refineBy(schema: JsonSchema, more: JsonSchema): JsonSchema {
  // Both patterns hold.
  if (schema['pattern'] !== undefined && more['pattern'] !== undefined)
    return { ...schema, allOf: [...((schema['allOf'] ?? []) as unknown[]), more] };
  const narrowed = Object.entries(more).flatMap(([name, value]) =>
    name === 'type' && !schema['type'] ? [] : [[name, narrowLimit(name, schema[name], value)]],
  );
  return { ...schema, ...(Object.fromEntries(narrowed) as JsonSchema) };
}

/** The narrower of two limits applies. A schema without a type has several, as that of 64 bits. */
const narrowLimit = (keyword: string, one: unknown, other: unknown): unknown =>
  typeof one === 'number' && typeof other === 'number' ? Math[/min/i.test(keyword) ? 'max' : 'min'](one, other) : other;

const OPTIONS = { forbidUnknownValues: false, validationError: { target: false, value: false } };

/** `undefined` if the entity has no such decorators. Importing the library takes 0.1 s: call this for the first write. */
export async function loadClassValidation(
  target: Function,
): Promise<((entity: object) => Promise<FieldError[]>) | undefined> {
  const library = await import('class-validator').catch(() => undefined);
  const isDecorated = library?.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false).length;
  if (!library || !isDecorated) return undefined;
  return async (entity) => (await library.validate(entity, OPTIONS)).flatMap((error) => fieldErrors(error));
}

function fieldErrors({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldError[] {
  const field = parent + property;
  return [
    ...Object.values(constraints).map((message) => ({ field, message })),
    ...children.flatMap((child) => fieldErrors(child, `${field}.`)),
  ];
}
