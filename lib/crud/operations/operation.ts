import type { OperationInput } from '../declare/custom-operation.js';
import type { DescribedOperation } from '../document/describe-operation.js';
import type { Plan } from '../plan/plan.js';
import type { Call } from '../store/call.js';

/** An operation as a value: its route, what it does, and its description. */
export interface Operation extends DescribedOperation {
  run(plan: Plan, call: Call, input: OperationInput): Promise<unknown>;
}
