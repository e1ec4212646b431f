/** How Fastify writes an answer that knows its JSON. */
import { reader, routeContextReader, type RouteContext } from '../routes/fastify-contexts.js';
import { nestsPrototype } from '../routes/nests-adapter.js';
import { textOf, type WriteText } from './json-answer.js';

interface FastifyReply {
  readonly request?: object;
  hasHeader(name: string): boolean;
  header(name: string, value: string): unknown;
  status(code: number): unknown;
  send(payload: string): unknown;
}

/** @param repliesAsNest whether the adapter answers as Nest's: then what Nest's router answers with is a text, too */
export function watchFastify(adapter: object, repliesAsNest: boolean): WriteText {
  const isUntouched = compileUntouched();
  if (repliesAsNest)
    standBefore(adapter, (nests, [reply, body, status]) => {
      const text = status === undefined ? undefined : textOf(body);
      return status === undefined || text === undefined || !isUntouched(reply) ? nests() : send(reply, text, status);
    });
  return (reply: FastifyReply, draft, status) => {
    const text = isUntouched(reply) ? draft.text() : undefined;
    if (text === undefined) return false;
    send(reply, text, status);
    return true;
  };
}

type Reply = (reply: FastifyReply, body: unknown, status?: number) => unknown;
type Adapter = object & { reply: Reply };

/** Stands before the `reply` of Nest's class, as long as that is Nest's: a tool may teach it another way at any time. */
function standBefore(adapter: object, seen: (nests: () => unknown, args: Parameters<Reply>) => unknown): void {
  const prototype = nestsPrototype(adapter) as Adapter;
  const { reply: nests } = prototype;
  const reply = function (this: unknown, ...args: Parameters<Reply>): unknown {
    return seen(() => nests.apply(this, args), args);
  };
  Object.defineProperty(adapter, 'reply', {
    get: () => (prototype.reply === nests ? reply : prototype.reply),
    set: (value: unknown) => {
      Object.defineProperty(adapter, 'reply', { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  });
}

function send(reply: FastifyReply, text: string, status: number): unknown {
  reply.status(status);
  reply.header('content-type', 'application/json; charset=utf-8');
  return reply.send(text);
}

/** Whether nobody has said how to write it or would see an object: no hook, no serializer, no schema, no type. */
function compileUntouched(): (reply: FastifyReply) => boolean {
  const contextOf = routeContextReader();
  const defaultSerializerOf = reader('fastify.replySerializerDefault');
  const schemaOf = reader('response-schema');
  const serializerOf = reader('fastify.reply.serializer');
  const isPlain = (context: RouteContext): boolean =>
    context.preSerialization === null && !defaultSerializerOf(context) && !schemaOf(context);
  // What is set for a route is set when it has its first request.
  const known = new WeakMap<object, boolean>();
  return (reply) => {
    // Nest's middleware has node's own response.
    const context = reply.request && contextOf(reply.request);
    if (!context) return false;
    let isKnownPlain = known.get(context);
    if (isKnownPlain === undefined) known.set(context, (isKnownPlain = isPlain(context)));
    // A hook may have given this reply a serializer, or put a `send` before Fastify's.
    return (
      isKnownPlain && serializerOf(reply) === null && !Object.hasOwn(reply, 'send') && !reply.hasHeader('content-type')
    );
  };
}
