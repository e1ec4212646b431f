/**
 * Standard Schema, the interface that zod, valibot and other validation libraries share (https://standardschema.dev,
 * version 1). It is written out here, so that the package depends on none of them.
 */

export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
  };
}

/** Without issues there is a value, which may be another one than the input. */
export interface SchemaResult {
  readonly value?: unknown;
  readonly issues?: readonly SchemaIssue[] | undefined;
}

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The schemas of a resource. */
export interface RecordSchemas {
  /** Checks the body of POST. */
  readonly create?: StandardSchema;
  /** Checks the body of PUT, and for PATCH the record as it would be. */
  readonly update?: StandardSchema;
}

/** A schema may be a function, as those of arktype are. */
export function isSchema(value: unknown): boolean {
  const { '~standard': standard } = (value ?? {}) as Partial<StandardSchema>;
  return standard?.version === 1 && typeof standard.validate === 'function';
}
