import type { OperationInput } from '../declare/custom-operation.js';
import { envelope, type Envelope } from '../declare/envelope.js';
import type { DescribedOperation } from '../document/describe-operation.js';
import type { Plan, Task } from '../plan/plan.js';
import { etagOf } from '../rows/record-version.js';
import type { Call } from '../store/call.js';

/** An operation as a value: its route, what it does, and its description. */
export interface Operation extends DescribedOperation {
  run(plan: Plan, call: Call, input: OperationInput): Promise<unknown>;
}

export function answerRecord({ call, view }: Task, message: string, record: object): Envelope<unknown> {
  const { version } = view;
  if (version) call.state?.answers.set(record, { etag: etagOf(record, version) });
  return envelope(message, record);
}
