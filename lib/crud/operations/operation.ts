import type { JsonObject } from '../../http/json-body.js';
import type { ListQuery } from '../declare/envelope.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import type { DescribedOperation } from '../document/described-operation.js';
import type { Plan } from '../plan/plan.js';
import type { Call } from '../store/call.js';

export interface OperationContext {
  readonly plan: Plan;
  readonly call: Call;
  /** The controller: a subclass may define hooks. */
  readonly hooks: GeneratedHooks<object>;
}

/** What the operation takes; the others are empty. */
export interface OperationInput {
  readonly id: string;
  readonly query: ListQuery;
  readonly body: JsonObject;
}

/** An operation as a value: its route, what it does, and its description. */
export interface Operation extends DescribedOperation {
  run(context: OperationContext, input: OperationInput): Promise<unknown>;
}
