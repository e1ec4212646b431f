/** Translates the messages of a failure. */
import type { HttpRequest } from './http-request.js';

/** Where a message of a failure appears. */
export interface FailureContext {
  /** `undefined` where `runAs` ran the operation. */
  readonly request: HttpRequest | undefined;
  readonly status: number;
  /** Such as `price` or `items[3].price`; absent for a message about the whole request. */
  readonly field?: string;
}

/** Must not reject. */
export type Translate = (message: string, context: FailureContext) => Promise<string>;

export type Say = (message: string, field?: string) => string;

/** Builds a failure once to collect its messages, and again with their translations. @param given the hints it has already */
export async function inTranslation<T>(
  build: (say: Say, hints: Set<string>) => T,
  translate: (message: string, field?: string) => Promise<string>,
  given: Set<string>,
): Promise<T> {
  const said = new Map<string, Promise<string>>();
  const keyOf: Say = (message, field = '') => JSON.stringify([field, message]);
  const collect: Say = (message, field) => {
    const key = keyOf(message, field);
    if (!said.has(key)) said.set(key, translate(message, field));
    return message;
  };
  build(collect, new Set(given));
  const texts = new Map<string, string>();
  for (const [key, text] of said) texts.set(key, await text);
  return build((message, field) => texts.get(keyOf(message, field)) ?? message, given);
}

/** Translates the texts of an object. Their names are those of fields. */
export const sayEach = (texts: object, say: Say): object => {
  const sayText = (name: string, text: unknown) => (typeof text === 'string' ? say(text, name) : text);
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, sayText(name, text)]));
};
