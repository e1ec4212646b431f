/**
 * Answers that know their own JSON. They are objects to whoever looks at them, such as an interceptor; to the platform,
 * which would walk through them, they are a text.
 */
import type { HttpAdapterHost } from '@nestjs/core';

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

/** Of each adapter: how its platform writes texts, and its `reply`, in the place of which somebody may put his own. */
export const textWriters = new WeakMap<Adapter, { readonly write: WriteText; readonly reply: unknown }>();

/** @returns what answers with the text of a draft, where that is possible; else nothing is answered, and it tells so */
export function textWriter(adapter: Adapter): (response: unknown, draft: Draft, status: number) => boolean {
  const known = textWriters.get(adapter);
  return (response, draft, status) =>
    known !== undefined && adapter.reply === known.reply && known.write(response as never, draft, status);
}
