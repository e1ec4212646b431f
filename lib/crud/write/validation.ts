/** Checks of a record beyond its columns: the option `validationSchema`, class-validator, and keys of new records. */
import { BadRequestException } from '@nestjs/common';
import { valueAt } from '../../entities/entity-instances.js';
import { ACCEPTED } from '../../entities/column-types.js';
import { isMysql, isPostgres } from '../../entities/database-family.js';
import { keyText } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { isKnownTo, type Permissions } from '../../entities/permissions.js';
import type { CheckResult, Values } from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import type { SchemaIssue } from '../declare/standard-schema.js';
import type { Plan } from '../plan/plan.js';
import { isInsertable } from '../rows/field-permissions.js';
import { fill, setAtPath, valuesOfEntity, withoutDefaults } from '../store/entity-values.js';
import { malformedColumns } from '../store/row-projection.js';

interface SchemaInput extends CheckResult {
  /** The values sent, including those that the path fixes; for a patch, merged into the stored record. */
  readonly body: Values;
  readonly permissions: Permissions;
}

/**
 * Gives the schema of an option what some client may set, by their names. What it returns replaces what this client may
 * set; a field that it leaves out keeps its value. It reports nothing about fields that this client does not know.
 * @param kept for a patch, the values of the stored record, which the schema sees where none is sent
 * @returns the values, and the errors with the issues of the schema
 */
export async function checkBySchema(plan: Plan, operation: 'create' | 'update', sent: SchemaInput, kept?: Values) {
  const { fields } = plan.schema;
  const standard = plan.options.validationSchema[operation];
  if (!standard) return sent;
  const { permissions } = sent;
  const record = {};
  for (const field of fields) {
    const value = sent.body.has(field) || !field.readable ? sent.body.get(field) : kept?.get(field);
    if (value !== undefined && isForClients(plan, field, operation)) setAtPath(record, field.path, value);
  }
  const result = await standard['~standard'].validate(record);
  if (result.issues) {
    const unknown = new Set(fields.flatMap((each) => (isKnownTo(each, permissions) ? [] : [each.name])));
    const errors = result.issues.map(errorOf).filter(({ field }) => !unknown.has(field));
    return { values: sent.values, errors: [...sent.errors, ...errors] };
  }
  const mayWrite = operation === 'create' ? permissions.canInsert : permissions.canUpdate;
  const values = new Map(sent.values);
  for (const field of fields) {
    const output = valueAt(field.path, result.value);
    const isSet = values.has(field) || (!kept && !sent.body.has(field));
    if (output !== undefined && isSet && mayWrite(field)) values.set(field, output);
  }
  return { values, errors: sent.errors };
}

/** Whether there are clients who may set a field. */
function isForClients({ fieldPermissions, owner, options }: Plan, field: Field, operation: 'create' | 'update') {
  if (fieldPermissions.get(field)?.write === 'never') return false;
  if (owner?.field === field && owner.except.length === 0) return false;
  return operation === 'create' ? isInsertable(field, options) : field.updatable;
}

/**
 * Adds what class-validator finds. It may change the values, as a constraint may change the entity.
 * @param entity for the values, which class-validator checks
 * @throws 400 naming every wrong field
 */
export async function validate(plan: Plan, entity: object, checked: CheckResult, unknown: readonly FieldError[]) {
  let { values } = checked;
  const named = new Set(unknown.map(({ field }) => field));
  const errors = [...unknown, ...checked.errors.filter(({ field }) => !named.has(field))];
  const validator = await plan.loadValidator();
  if (validator) {
    const check = async (given: Values) => errorsOfOtherFields(await validator(fill(entity, given)), values, errors);
    const found = await check(withoutDefaults(values));
    values = valuesOfEntity(entity, values);
    const isWrong = ({ name }: Field): boolean => found.some(({ field }) => field === name);
    const texts = [...values].filter(([field, value]) => isDecimalText(field, value) && isWrong(field));
    const asNumbers = texts.length > 0 ? await check(new Map(texts.map(([field, text]) => [field, Number(text)]))) : [];
    fill(entity, new Map(texts));
    const isText = (error: FieldError): boolean => texts.some(([{ name }]) => name === error.field);
    errors.push(...found.filter((error) => !isText(error)), ...asNumbers.filter(isText));
  }
  if (errors.length > 0) throw new BadRequestException({ message: `${plan.schema.name} is not valid`, errors });
  return values;
}

/** @param written all fields, where it is absent @throws 400 naming each that a transformer cannot read again */
export function assertReadBack({ schema }: Plan, record: object, written?: Values): object {
  const wrong = malformedColumns(record);
  const fields = schema.fields.filter((field) => wrong.includes(field.column) && (written?.has(field) ?? true));
  if (fields.length === 0) return record;
  const errors = fields.map(({ name }) => ({ field: name, message: `must be ${ACCEPTED}` }));
  throw new BadRequestException({ message: `${schema.name} is not valid`, errors });
}

const errorOf = ({ path = [], message }: SchemaIssue): FieldError => ({
  field: path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
  message,
});

/** Decorators such as `@Min()` take no text: a decimal or an integer of 64 bits is valid by its text or by its number. */
const isDecimalText = ({ type }: Field, value: unknown): boolean =>
  type.comparison === 'exact number' && typeof value === 'string';

/** The errors of class-validator for fields that have no error yet. */
function errorsOfOtherFields(found: readonly FieldError[], values: Values, known: readonly FieldError[]): FieldError[] {
  const named = new Set(known.map(({ field }) => field));
  // Values that the database fills in cannot be checked.
  const byProperty = new Map([...withoutDefaults(values).keys()].map(({ property, name }) => [property, name]));
  return found.flatMap(({ field, message }) => {
    const name = byProperty.get(field) ?? (byProperty.has(field.split('.')[0] ?? '') ? field : undefined);
    return name === undefined || named.has(name) ? [] : [{ field: name, message }];
  });
}

/** URL parsers remove them from a path. */
const WITHOUT_PATH = ['', '.', '..'];

export function keyErrors(plan: Plan, values: Values): FieldError[] {
  const { fields } = plan.schema.key;
  return fields.flatMap((field) => {
    const value = values.get(field);
    if (value == null) return [];
    const text = keyText(field.type.write(value));
    const isPath = fields.length === 1 && (WITHOUT_PATH.includes(text) || plan.reservedKeys.has(text.toLowerCase()));
    const message = isPath
      ? `must be a key that a path can have, got ${JSON.stringify(text)}, which leads elsewhere`
      : generatorError(plan, field, text);
    return message === undefined ? [] : [{ field: field.name, message }];
  });
}

/** SQLite, MySQL and MariaDB generate keys above the greatest one. PostgreSQL has a sequence. */
function generatorError({ database: { dataSource } }: Plan, { column, type }: Field, text: string): string | undefined {
  if (column.generationStrategy !== 'increment' || isPostgres(dataSource)) return undefined;
  if (text === '0' && isMysql(dataSource)) return 'must not be 0, for which the database generates a key';
  const key = BigInt(text);
  const leavesRoom = key <= 0n || 'value' in type.readText(String(key + key / 15n));
  return leavesRoom ? undefined : `must leave the last sixteenth of the range to generated keys, got ${text}`;
}
