import type { CustomOperation } from '../crud/declare/custom-operation.js';
import { overridesOf } from '../crud/nest/declaration-warnings.js';
import { standardOperations } from '../crud/operations/standard-operations.js';
import { isForwarding } from './code-hash.js';
import type { GeneratedRoute } from './generated-routes.js';
import { anyOf, condition, type Rows } from './rows.js';

/** Code may leave out the conditions of the declaration: its rows are an alternative. */
export function withCode(route: Operation, rows: Rows): Rows {
  const code = codeIn(route);
  return code ? anyOf(rows, condition(`code: ${code.name}`)) : rows;
}

type Operation = Pick<GeneratedRoute, 'controller' | 'plan' | 'operation'>;

/** The application's own code that an operation runs: nobody can tell which records it reads and writes. */
export function codeIn({
  controller,
  plan,
  operation: { name },
}: Pick<GeneratedRoute, 'controller' | 'plan' | 'operation'>):
  { readonly name: string; readonly code: object } | undefined {
  const override = overridesOf(controller).find((each) => each.operation.name === name);
  if (override) return isForwarding(override.method) ? undefined : { name: override.path, code: override.method };
  const custom = plan.options.operations?.find(
    (each): each is CustomOperation =>
      typeof each === 'object' && each.name === name && !(standardOperations as readonly object[]).includes(each),
  );
  return custom && { name, code: custom.run };
}
