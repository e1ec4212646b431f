import { envelope, type Envelope } from '../declare/envelope.js';
import type { Task } from '../plan/plan.js';
import { etagOf } from '../rows/record-version.js';

export function answerRecord({ call, view }: Task, message: string, record: object): Envelope<unknown> {
  const { version } = view;
  if (version) call.state?.answers.set(record, { etag: etagOf(record, version) });
  return envelope(message, record);
}
