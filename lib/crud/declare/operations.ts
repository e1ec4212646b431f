/**
 * The operations that a controller may have. Each is the name of a method, which a subclass can override. Whatever differs
 * between operations, apart from what they do, is a column of this table.
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
  /** Where `If-Match` counts: it names the version of one record. No version names a batch, which only `*` matches. */
  readonly ifMatch?: 'version' | 'any';
  /** Of a GET: when it reads the request itself, or answers more than a body. */
  readonly needsRequest?: 'always' | 'with a version' | 'with a total';
}

/** Fixed paths come first, because Express matches routes in the order of their declaration. */
export const OPERATIONS = {
  search: { verb: GET, path: 'search', parameters: ['query'], enabledBy: 'enableSearch', needsRequest: 'with a total' },
  exists: { verb: GET, path: 'exists/:id', parameters: ['id'], enabledBy: 'enableExists' },
  count: { verb: GET, path: 'count', parameters: ['query'], enabledBy: 'enableCount' },
  aggregate: { verb: GET, path: 'aggregate', parameters: ['query'], enabledBy: 'aggregatableFields' },
  export: { verb: GET, path: 'export', parameters: ['query'], enabledBy: 'enableExport', needsRequest: 'always' },
  findAll: { verb: GET, path: '/', parameters: ['query'], needsRequest: 'with a total' },
  findById: { verb: GET, path: ':id', parameters: ['id', 'query'], needsRequest: 'with a version' },
  createMany: {
    verb: POST,
    path: 'batch',
    parameters: ['body', 'query'],
    enabledBy: 'enableBatch',
    isRepeatable: true,
  },
  patchMany: { verb: PATCH, path: 'batch', parameters: ['body', 'query'], enabledBy: 'enableBatch', ifMatch: 'any' },
  deleteMany: { verb: DELETE, path: 'batch', parameters: ['query'], enabledBy: 'enableBatch', ifMatch: 'any' },
  create: { verb: POST, path: '/', parameters: ['body'], isRepeatable: true },
  update: { verb: PUT, path: ':id', parameters: ['id', 'body'], ifMatch: 'version' },
  patch: { verb: PATCH, path: ':id', parameters: ['id', 'patch'], ifMatch: 'version' },
  delete: { verb: DELETE, path: ':id', parameters: ['id', 'query'], ifMatch: 'version' },
  restore: { verb: POST, path: ':id/restore', parameters: ['id'], enabledBy: 'enableRestore', status: HttpStatus.OK },
} as const satisfies Readonly<Record<string, Row>>;

export type Operation = Row;
export type OperationName = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

type EnablingOption = Extract<(typeof OPERATIONS)[OperationName], { enabledBy: string }>['enabledBy'];
export const enablingOption = (name: OperationName): EnablingOption | undefined =>
  (OPERATIONS[name] as Row & { readonly enabledBy?: EnablingOption }).enabledBy;

export const ENABLING_OPTIONS: readonly EnablingOption[] = [
  ...new Set(OPERATION_NAMES.flatMap((name) => enablingOption(name) ?? [])),
];

/** The same value for each option that enables operations. */
export const forEnablingOptions = <V>(value: V) =>
  Object.fromEntries(ENABLING_OPTIONS.map((name) => [name, value])) as Record<EnablingOption, V>;

export interface EnablingOptions extends Readonly<Record<EnablingOption, boolean | readonly string[]>> {
  readonly operations?: readonly OperationName[] | undefined;
}

/** The option that an operation needs and that is not set. */
export function missingOption(name: OperationName, options: EnablingOptions): EnablingOption | undefined {
  const enabledBy = enablingOption(name);
  const value = enabledBy === undefined || options[enabledBy];
  return value === true || (typeof value === 'object' && value.length > 0) ? undefined : enabledBy;
}

/** Whether an operation only reads, and needs no key. */
export const isKeyless = (name: OperationName): boolean =>
  OPERATIONS[name].verb === GET && !OPERATIONS[name].path.includes(':id');

/** Whether the operation has a generated route. */
export const isGenerated = (name: OperationName, options: EnablingOptions): boolean =>
  (options.operations?.includes(name) ?? true) && missingOption(name, options) === undefined;
