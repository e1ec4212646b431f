import type { OperationInput } from '../declare/custom-operation.js';
import type { DescribedOperation } from '../document/described-operation.js';
import type { OperationTools } from '../plan/plan.js';

/** An operation as a value: its route, what it does, and its description. */
export interface Operation extends DescribedOperation {
  run(tools: OperationTools, input: OperationInput): Promise<unknown>;
}
