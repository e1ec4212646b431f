/** Checks of a record beyond its columns. */
import { BadRequestException } from '@nestjs/common';
import { loadClassValidation } from '../../entities/class-validation.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { isKnownTo, type Permissions } from '../../entities/permissions.js';
import type { CheckResult, Values } from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import type { Resource } from '../plan/resource.js';
import type { SchemaIssue } from '../declare/standard-schema.js';
import { place } from '../store/entity-projection.js';
import { fill, valueAt, valuesOfEntity } from '../store/entity-values.js';

interface SchemaInput extends CheckResult {
  /** What was sent, with what the path fixes; for a patch, merged into the stored record. */
  readonly body: Values;
  readonly permissions: Permissions;
}

export class RecordValidation<T extends object> {
  private classValidation: ReturnType<typeof loadClassValidation> | undefined;

  constructor(private readonly resource: Resource<T>) {}

  /**
   * Gives the schema of an option what some client may set, by their names. What it returns replaces what this one may
   * set; a field that it leaves out keeps its value. Of fields that this one does not know, it reports nothing.
   *
   * @param kept for a patch, the values of the stored record, which the schema sees where none is sent
   * @returns the values, and the errors with the issues of the schema
   */
  async bySchema(operation: 'create' | 'update', sent: SchemaInput, kept?: Values): Promise<CheckResult> {
    const { schema, options } = this.resource;
    const standard = options.schema[operation];
    if (!standard) return sent;
    const { permissions } = sent;
    const record = {};
    for (const [index, field] of schema.fields.entries()) {
      const value = sent.body[index] === undefined && field.readable ? kept?.[index] : sent.body[index];
      if (value !== undefined && this.isForClients(field, operation)) place(record, field.path, value);
    }
    const result = await standard['~standard'].validate(record);
    if (result.issues) {
      const unknown = new Set(schema.fields.flatMap((each) => (isKnownTo(each, permissions) ? [] : [each.name])));
      const errors = result.issues.map(errorOf).filter(({ field }) => !unknown.has(field));
      return { values: sent.values, errors: [...sent.errors, ...errors] };
    }
    const mayWrite = operation === 'create' ? permissions.canInsert : permissions.canUpdate;
    const values = schema.fields.map((field, index) => {
      const value = sent.values[index];
      const output = valueAt(field.path, result.value);
      const isSet = value !== undefined || (!kept && sent.body[index] === undefined);
      return output !== undefined && isSet && mayWrite(field) ? output : value;
    });
    return { values, errors: sent.errors };
  }

  /** Whether there are clients who may set it. */
  private isForClients(field: Field, operation: 'create' | 'update'): boolean {
    const { fieldPermissions, owner } = this.resource;
    if (fieldPermissions.get(field)?.write === 'never') return false;
    if (owner?.field === field && owner.except.length === 0) return false;
    return operation === 'create' ? field.insertable : field.updatable;
  }

  /**
   * Adds what class-validator finds. It may change the values, as a constraint may change the entity.
   *
   * @param entity for the values, which class-validator checks
   * @throws 400 naming every wrong field
   */
  async validated(entity: T, checked: CheckResult, unknown: readonly FieldError[]): Promise<Values> {
    const { schema, options } = this.resource;
    let { values } = checked;
    const named = new Set(unknown.map(({ field }) => field));
    const errors = [...unknown, ...checked.errors.filter(({ field }) => !named.has(field))];
    const validate = await (this.classValidation ??= loadClassValidation(options.entity));
    if (validate) {
      const found = await validate(fill(entity, schema, values));
      errors.push(...errorsOfOtherFields(found, schema, values, errors));
      values = valuesOfEntity(entity, schema, values);
    }
    if (errors.length > 0) throw new BadRequestException({ message: `${schema.name} is not valid`, errors });
    return values;
  }
}

const errorOf = ({ path = [], message }: SchemaIssue): FieldError => ({
  field: path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
  message,
});

/** The errors of class-validator for fields that have no error yet. */
function errorsOfOtherFields(
  found: readonly FieldError[],
  { fields }: EntityDescription,
  values: Values,
  known: readonly FieldError[],
): FieldError[] {
  const named = new Set(known.map(({ field }) => field));
  // What the database will fill in is not there to be checked.
  const sent = fields.filter((_, place) => values[place] !== undefined && typeof values[place] !== 'function');
  const byProperty = new Map(sent.map(({ property, name }) => [property, name]));
  return found.flatMap(({ field, message }) => {
    const name = byProperty.get(field) ?? (byProperty.has(field.split('.')[0] ?? '') ? field : undefined);
    return name === undefined || named.has(name) ? [] : [{ field: name, message }];
  });
}
