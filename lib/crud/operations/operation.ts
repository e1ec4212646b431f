import type { OperationInput } from '../declare/custom-operation.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import type { DescribedOperation } from '../document/describe-operation.js';
import type { Plan } from '../plan/plan.js';
import type { Call } from '../store/call.js';

/** What the package's own operations work with. */
export interface OperationTools {
  readonly plan: Plan;
  readonly call: Call;
  /** The controller: a subclass may define hooks. */
  readonly hooks: GeneratedHooks<object>;
}

/** An operation as a value: its route, what it does, and its description. */
export interface Operation extends DescribedOperation {
  run(tools: OperationTools, input: OperationInput): Promise<unknown>;
}
