/** How Fastify writes an answer that knows its JSON. */
import { declaredRoute } from '../routing/declared-route.js';
import { reader, routeContextReader } from '../routing/fastify-contexts.js';
import type { RouteTable } from '../routing/route-table.js';
import { textOf, type WriteText } from './json-answer.js';

interface FastifyRoute {
  readonly url: string;
  schema?: { readonly response?: unknown };
  serializerCompiler?: unknown;
}
interface FastifyInstance {
  addHook(name: 'onRoute', hook: (options: FastifyRoute) => void): void;
}
interface FastifyReply {
  readonly request: object;
  hasHeader(name: string): boolean;
  header(name: string, value: string): unknown;
  status(code: number): unknown;
  send(payload: string): unknown;
  getSerializationFunction(status: string): unknown;
}

const serialize = (body: unknown): string => textOf(body) ?? JSON.stringify(body);

/** As Fastify's documentation gives a route a serializer of its own: hooks, and serializers that are set elsewhere, stay before it. */
export function watchFastify(table: RouteTable, instance: FastifyInstance): WriteText {
  instance.addHook('onRoute', (options) => {
    const route = table.registering(options.url);
    const isOurs = route !== undefined && declaredRoute(route.handler) !== undefined;
    if (!isOurs || options.schema?.response || options.serializerCompiler) return;
    options.schema = { ...options.schema, response: { '2xx': {} } };
    options.serializerCompiler = () => serialize;
  });

  const contextOf = routeContextReader();
  const defaultSerializerOf = reader('fastify.replySerializerDefault');
  const serializerOf = reader('fastify.reply.serializer');
  // What is set for a route is set when it has its first request.
  const untouched = new WeakMap<object, boolean>();
  const isUntouched = (reply: FastifyReply): boolean => {
    const context = contextOf(reply.request);
    if (!context) return false;
    let known = untouched.get(context);
    if (known === undefined) {
      known =
        context.preSerialization === null &&
        !defaultSerializerOf(context) &&
        reply.getSerializationFunction('2xx') === serialize;
      untouched.set(context, known);
    }
    // A hook may have given this reply a serializer, or put a `send` before Fastify's.
    return known && serializerOf(reply) === null && !Object.hasOwn(reply, 'send');
  };

  return (reply: FastifyReply, draft, status) => {
    if (!isUntouched(reply) || reply.hasHeader('content-type')) return false;
    const text = draft.text();
    if (text === undefined) return false;
    reply.status(status);
    reply.header('content-type', 'application/json; charset=utf-8');
    reply.send(text);
    return true;
  };
}
