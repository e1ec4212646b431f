/**
 * What was found, before anybody has looked at it. Whoever does (an interceptor, an override) gets objects; where nobody
 * does, the rows of the database are written as JSON, and no object is made of them.
 */
import { inspect } from 'node:util';
import { JSON_TEXT, type Draft, type JsonText } from '../http/json-answer.js';
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

/** Of no class that could write itself in its own way. */
export const plain = <T>(value: T): Unread<T> => ({ read: () => value, json: () => JSON.stringify(value) });

/** An envelope that nobody has asked for yet. */
export class EnvelopeDraft<T> implements Draft {
  constructor(
    private readonly message: string,
    private readonly beforeData: string,
    private readonly unread: Unread<T>,
    private readonly metadata: ListMetadata | undefined,
  ) {}

  text(): string | undefined {
    const data = this.unread.json();
    if (data === undefined) return undefined;
    const metadata = this.metadata ? `,"metadata":${JSON.stringify(this.metadata)}` : '';
    return `${this.beforeData}${data},"timestamp":"${localNow()}"${metadata}}`;
  }

  object(): Envelope<T> {
    return unreadEnvelope(this.message, this.unread, this.metadata);
  }
}

/** The envelopes of one message. */
export function envelopes(message: string): <T>(unread: Unread<T>, metadata?: ListMetadata) => EnvelopeDraft<T> {
  const beforeData = `{"success":true,"message":${JSON.stringify(message)},"data":`;
  return (unread, metadata) => new EnvelopeDraft(message, beforeData, unread, metadata);
}

/**
 * An envelope whose `data` is made when it is asked for: a plain object, which copied, changed, logged or written as JSON
 * is as any other.
 */
function unreadEnvelope<T>(message: string, unread: Unread<T>, metadata?: ListMetadata): Envelope<T> {
  const envelope = { success: true, message } as { -readonly [K in keyof Envelope<T>]: Envelope<T>[K] };
  Object.defineProperty(envelope, 'data', DATA);
  envelope.timestamp = localNow();
  if (metadata) envelope.metadata = metadata;
  // Not enumerable: a copy has none.
  Object.defineProperty(envelope, JSON_TEXT, { value: new Held(envelope, unread) });
  Object.defineProperty(envelope, inspect.custom, INSPECT);
  return envelope;
}

class Held<T> implements JsonText {
  private data: T | undefined;

  constructor(
    private readonly envelope: Envelope<T>,
    private unread: Unread<T> | undefined,
  ) {}

  read(): T | undefined {
    if (this.unread) this.give(this.unread.read());
    return this.data;
  }

  give(data: T): void {
    this.unread = undefined;
    this.data = data;
  }

  /** The rest is written as it is by now: an interceptor may have changed it, or have put something in the way of `data`. */
  textOf(envelope: Envelope<T>): string | undefined {
    if (envelope !== this.envelope || Object.getPrototypeOf(envelope) !== Object.prototype) return undefined;
    if (Object.getOwnPropertyDescriptor(envelope, 'data')?.get !== DATA.get || 'toJSON' in envelope) return undefined;
    const data = this.unread?.json();
    if (data === undefined) return undefined;
    let text = '';
    for (const name of Object.keys(envelope)) {
      const value: unknown = name === 'data' ? undefined : envelope[name as keyof Envelope<T>];
      // What is no plain value may write itself in its own way.
      if (typeof value === 'object' && value !== null && name !== 'metadata') return undefined;
      const json = name === 'data' ? data : JSON.stringify(value);
      if (json !== undefined)
        text += `${text === '' ? '{' : ','}${LABELS.get(name) ?? `${JSON.stringify(name)}:`}${json}`;
    }
    return `${text}}`;
  }
}

/** As JSON has the names of an envelope. */
const LABELS: ReadonlyMap<string, string> = new Map(
  ['success', 'message', 'data', 'timestamp', 'metadata'].map((name) => [name, `"${name}":`]),
);

type Holding = { readonly [JSON_TEXT]: Held<unknown> };

/** A property of its own: `{ ...envelope }` has it, too. */
const DATA: PropertyDescriptor & ThisType<Holding> = {
  enumerable: true,
  configurable: true,
  get() {
    return this[JSON_TEXT].read();
  },
  set(data: unknown) {
    this[JSON_TEXT].give(data);
  },
};

const INSPECT: PropertyDescriptor & ThisType<object> = {
  value(): object {
    return { ...this };
  },
};
