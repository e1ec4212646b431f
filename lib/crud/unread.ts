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

const UNREAD = Symbol('declarest.unread');

/** An envelope whose `data` is made when it is asked for; copied, changed, logged or written as JSON, it is as any other. */
export class UnreadEnvelope<T> implements Envelope<T> {
  readonly success = true;
  readonly message: string;
  declare readonly data: T;
  readonly timestamp: string;
  declare readonly metadata?: ListMetadata;
  /** What `data` will be made of. Not enumerable, so that a copy has none, and not private, so that a proxy finds it. */
  declare readonly [UNREAD]: Unread<T> | undefined;

  constructor(message: string, unread: Unread<T>, metadata?: ListMetadata) {
    this.message = message;
    // A property of its own: `{ ...envelope }` has it, too.
    Object.defineProperty(this, 'data', DATA);
    this.timestamp = localNow();
    if (metadata) this.metadata = metadata;
    Object.defineProperty(this, UNREAD, { value: unread, writable: true });
  }

  /** The rest is written as it is by now: an interceptor may have changed it. */
  [JSON_TEXT](): string | undefined {
    const data = this[UNREAD]?.json();
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

/** From the first look on, `data` is a property like the others. */
function settle(envelope: UnreadEnvelope<unknown>, data: unknown): unknown {
  Object.defineProperties(envelope, { [UNREAD]: { value: undefined }, data: { value: data, writable: true } });
  return data;
}

const DATA: PropertyDescriptor & ThisType<UnreadEnvelope<unknown>> = {
  enumerable: true,
  configurable: true,
  get() {
    return settle(this, this[UNREAD]?.read());
  },
  set(data: unknown) {
    settle(this, data);
  },
};
