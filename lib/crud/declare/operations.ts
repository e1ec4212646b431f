/** The operations that a controller may have. Each is the name of a method, which a subclass can override. */
export const OPERATION_NAMES = [
  'search',
  'exists',
  'count',
  'aggregate',
  'export',
  'findAll',
  'findById',
  'createMany',
  'patchMany',
  'deleteMany',
  'create',
  'update',
  'patch',
  'delete',
  'restore',
] as const;

export type OperationName = (typeof OPERATION_NAMES)[number];

/** The operations whose query string may choose deleted records. */
export type ListOperation = Extract<OperationName, 'findAll' | 'search' | 'count' | 'aggregate' | 'export'>;

/** The option without which an operation does not exist. */
const ENABLED_BY = {
  search: 'enableSearch',
  exists: 'enableExists',
  count: 'enableCount',
  aggregate: 'aggregatableFields',
  export: 'enableExport',
  restore: 'enableRestore',
  createMany: 'enableBatch',
  patchMany: 'enableBatch',
  deleteMany: 'enableBatch',
} as const satisfies Partial<Record<OperationName, string>>;

type EnablingOption = (typeof ENABLED_BY)[keyof typeof ENABLED_BY];
type EnablingOptions = Readonly<Record<EnablingOption, boolean | readonly string[]>>;

/** The option that an operation needs and that is not set. */
export function missingOption(name: OperationName, options: EnablingOptions): EnablingOption | undefined {
  const option = (ENABLED_BY as Partial<Record<OperationName, EnablingOption>>)[name];
  const value = option === undefined || options[option];
  return value === true || (typeof value === 'object' && value.length > 0) ? undefined : option;
}
