/**
 * Answers that know their own JSON. They are objects to whoever looks at them, such as an interceptor; to the platform,
 * which would walk through them, they are a text.
 */
import type { HttpAdapterHost } from '@nestjs/core';
import { nestsPrototype } from '../routing/nests-adapter.js';

type Adapter = HttpAdapterHost['httpAdapter'];

/** Under which such an answer keeps what knows it. */
export const JSON_TEXT = Symbol('declarest.jsonText');

export interface JsonText {
  /** @returns `undefined` where the object has to be walked through after all */
  textOf(answer: object): string | undefined;
}

/** The JSON of an answer that knows it. */
export const textOf = (body: unknown): string | undefined =>
  (body as { readonly [JSON_TEXT]?: JsonText } | null | undefined)?.[JSON_TEXT]?.textOf(body as object);

/** An answer before there is an object of it. */
export interface Draft {
  /** Its JSON, to the byte; `undefined` where only the object can tell. */
  text(): string | undefined;
  /** A new one each time. */
  object(): object;
}

/**
 * Answers with the text of a draft.
 *
 * @returns `false` where it has not: somebody stands in its way who would see an object, or there is no text
 */
export type WriteText = (response: never, draft: Draft, status: number) => boolean;

/** Of each adapter, how its platform writes texts. */
export const textWriters = new WeakMap<Adapter, WriteText>();

/** @returns what answers with the text of a draft, where that is possible; else nothing is answered, and it tells so */
export function textWriter(adapter: Adapter): (response: unknown, draft: Draft, status: number) => boolean {
  const write = textWriters.get(adapter);
  const usual = platformsReply(adapter);
  return (response, draft, status) =>
    write !== undefined && adapter.reply === usual && write(response as never, draft, status);
}

/** The `reply` of Nest's own class; `undefined` where a subclass or a test's spy stands before it. */
function platformsReply(adapter: Adapter): unknown {
  const isNests = adapter.reply === nestsPrototype(adapter)?.reply && adapter.reply.name === 'reply';
  return isNests ? adapter.reply : undefined;
}
