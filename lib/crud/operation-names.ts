/** The operations that a controller may have. Each is the name of a method, which a subclass can override. */
export const OPERATION_NAMES = [
  'search',
  'exists',
  'count',
  'aggregate',
  'export',
  'findAll',
  'findById',
  'create',
  'update',
  'patch',
  'delete',
  'restore',
] as const;

export type OperationName = (typeof OPERATION_NAMES)[number];

/** The operations whose query string may choose deleted records. */
export type ListOperation = Extract<OperationName, 'findAll' | 'search' | 'count' | 'aggregate' | 'export'>;
