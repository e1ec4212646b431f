import { envelope, type Envelope } from '../declare/envelope.js';
import type { CallerView } from '../plan/variant.js';
import { etagOf } from '../rows/record-version.js';
import type { Call } from '../store/call.js';

/** The answer that is one whole record, with its `ETag`. */
export function answerRecord<T extends object>(
  { state }: Call,
  { version }: CallerView,
  message: string,
  record: T,
): Envelope<unknown> {
  if (version) state?.answers.set(record, { etag: etagOf(record, version) });
  return envelope(message, record);
}
