/**
 * What was found, before anybody has looked at it. Whoever does (an interceptor, an override) gets objects; where nobody
 * does, the rows of the database are written as JSON, and no object is made of them.
 */
import { inspect } from 'node:util';
import { JSON_TEXT } from '../http/json-text.js';
import { localNow, type Envelope, type ListMetadata } from './envelope.js';

export interface Unread<T> {
  /** Makes it, anew each time. */
  read(): T;
  /** The JSON of what is read, to the byte; `undefined` where only the objects can tell. */
  json(): string | undefined;
}

/** One record. */
export interface UnreadRecord<T> extends Unread<T> {
  id(): string | number;
}

/** What has been made already. */
export const alreadyRead = <T>(value: T): Unread<T> => ({ read: () => value, json: () => undefined });

const HELD = Symbol('declarest.held');

/** An envelope whose `data` is made when it is asked for; copied, changed, logged or written as JSON, it is as any other. */
export class UnreadEnvelope<T> implements Envelope<T> {
  declare readonly success: true;
  declare readonly message: string;
  declare readonly data: T;
  declare readonly timestamp: string;
  declare readonly metadata?: ListMetadata;
  /** Not enumerable, so that a copy has none, and not private, so that a proxy finds it. */
  declare readonly [HELD]: { unread: Unread<T> | undefined; data: T | undefined };

  constructor(message: string, unread: Unread<T>, metadata?: ListMetadata) {
    this.success = true;
    this.message = message;
    // A property of its own: `{ ...envelope }` has it, too.
    Object.defineProperty(this, 'data', DATA);
    this.timestamp = localNow();
    if (metadata) this.metadata = metadata;
    Object.defineProperty(this, HELD, { value: { unread, data: undefined } });
  }

  /** The rest is written as it is by now: an interceptor may have changed it. */
  [JSON_TEXT](): string | undefined {
    const data = this[HELD].unread?.json();
    if (data === undefined) return undefined;
    let text = '';
    for (const name of Object.keys(this)) {
      const value = name === 'data' ? data : JSON.stringify(this[name as keyof this]);
      if (value !== undefined) text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${value}`;
    }
    return `${text}}`;
  }

  [inspect.custom](): object {
    return { ...this };
  }
}

const DATA: PropertyDescriptor & ThisType<UnreadEnvelope<unknown>> = {
  enumerable: true,
  configurable: true,
  get() {
    const held = this[HELD];
    if (held.unread) held.data = held.unread.read();
    held.unread = undefined;
    return held.data;
  },
  set(data: unknown) {
    const held = this[HELD];
    held.unread = undefined;
    held.data = data;
  },
};
