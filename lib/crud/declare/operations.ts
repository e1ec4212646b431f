/**
 * The operations that a controller may have. Each is the name of a method, which a subclass can override. Routes, enabling
 * options and the checks of overrides derive from this table. A new operation is a new row.
 */
import { HttpStatus, RequestMethod } from '@nestjs/common';

const { GET, POST, PUT, PATCH, DELETE } = RequestMethod;

interface Row {
  readonly verb: RequestMethod;
  readonly path: string;
  /** The parameters of the method. */
  readonly parameters: readonly ('id' | 'query' | 'body' | 'patch')[];
  /** The option without which the operation does not exist. */
  readonly enabledBy?: string;
  /** Where it is not Nest's own for the verb. */
  readonly status?: HttpStatus;
  /** Whether it may be sent with an `Idempotency-Key`. */
  readonly isRepeatable?: true;
}

/** Fixed paths come first, because Express matches routes in the order of their declaration. */
export const OPERATIONS = {
  search: { verb: GET, path: 'search', parameters: ['query'], enabledBy: 'enableSearch' },
  exists: { verb: GET, path: 'exists/:id', parameters: ['id'], enabledBy: 'enableExists' },
  count: { verb: GET, path: 'count', parameters: ['query'], enabledBy: 'enableCount' },
  aggregate: { verb: GET, path: 'aggregate', parameters: ['query'], enabledBy: 'aggregatableFields' },
  export: { verb: GET, path: 'export', parameters: ['query'], enabledBy: 'enableExport' },
  findAll: { verb: GET, path: '/', parameters: ['query'] },
  findById: { verb: GET, path: ':id', parameters: ['id', 'query'] },
  createMany: {
    verb: POST,
    path: 'batch',
    parameters: ['body', 'query'],
    enabledBy: 'enableBatch',
    isRepeatable: true,
  },
  patchMany: { verb: PATCH, path: 'batch', parameters: ['body', 'query'], enabledBy: 'enableBatch' },
  deleteMany: { verb: DELETE, path: 'batch', parameters: ['query'], enabledBy: 'enableBatch' },
  create: { verb: POST, path: '/', parameters: ['body'], isRepeatable: true },
  update: { verb: PUT, path: ':id', parameters: ['id', 'body'] },
  patch: { verb: PATCH, path: ':id', parameters: ['id', 'patch'] },
  delete: { verb: DELETE, path: ':id', parameters: ['id', 'query'] },
  restore: {
    verb: POST,
    path: ':id/restore',
    parameters: ['id'],
    enabledBy: 'enableRestore',
    status: HttpStatus.OK,
  },
} as const satisfies Readonly<Record<string, Row>>;

export type Operation = Row;
export type OperationName = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

type EnablingOption = Extract<(typeof OPERATIONS)[OperationName], { enabledBy: string }>['enabledBy'];
export interface EnablingOptions extends Readonly<Record<EnablingOption, boolean | readonly string[]>> {
  readonly operations?: readonly OperationName[] | undefined;
}

/** The option that an operation needs and that is not set. */
export function missingOption(name: OperationName, options: EnablingOptions): EnablingOption | undefined {
  const { enabledBy } = OPERATIONS[name] as Row & { readonly enabledBy?: EnablingOption };
  const value = enabledBy === undefined || options[enabledBy];
  return value === true || (typeof value === 'object' && value.length > 0) ? undefined : enabledBy;
}

/** Whether the operation has a generated route. */
export const isGenerated = (name: OperationName, options: EnablingOptions): boolean =>
  (options.operations?.includes(name) ?? true) && missingOption(name, options) === undefined;
