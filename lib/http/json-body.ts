import { BadRequestException, createParamDecorator, UnsupportedMediaTypeException } from '@nestjs/common';
import { parse } from 'content-type';
import type { HttpRequest } from './http-request.js';

export const MERGE_PATCH = 'application/merge-patch+json';
const JSON_TYPES = ['application/json'];

/** JSON is UTF-8 (RFC 8259 §8.1). */
export function isOfType(contentType: string, types: readonly string[]): boolean {
  const { type, parameters } = parse(contentType);
  return types.includes(type) && /^utf-?8$/i.test(parameters['charset'] ?? 'utf-8');
}

const NONE = 'The request body must be a JSON object, got none';

/** A JSON object as sent; its fields are not checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** MySQL stores JSON up to this depth. `JSON.stringify` fails for a value that is thousands of levels deep. */
const MOST_LEVELS = 100;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1)));

/** RFC 9112 §6.3: a request has a body where it says its length, or that it is chunked. */
const hasFraming = ({ headers }: HttpRequest): boolean =>
  (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined;

/** In HTTP/2, a body needs no length: its headers do not end the stream. Clients also end it by an empty frame, without a type. */
export const hasBody = (request: HttpRequest): boolean => {
  const { headers, raw } = request;
  const isStreamed = headers['content-type'] !== undefined && headers['content-length'] === undefined;
  return hasFraming(request) || (isStreamed && raw?.stream?.endAfterHeaders === false);
};

/** @throws 415 for another media type, 400 for anything but an object */
export function jsonBodyOf(request: HttpRequest, types: readonly string[] = JSON_TYPES): JsonObject {
  const { headers, body, raw, readableDidRead } = request;
  const type = headers['content-type'];
  if (type === undefined && !hasBody(request)) throw new BadRequestException(NONE);
  // Express decodes known encodings and refuses others. Fastify passes the bytes on as they are.
  const encoded = raw !== undefined && !/^(identity)?$/i.test(headers['content-encoding'] ?? '');
  if (type === undefined || !isOfType(type, types) || encoded)
    throw new UnsupportedMediaTypeException(`The request body must be ${types.join(' or ')} in UTF-8`);
  // Express's parser reads an empty body as `{}`, which would replace a record by an empty one.
  if (!hasBody(request) || (readableDidRead === false && JSON.stringify(body) === '{}'))
    throw new BadRequestException(NONE);
  const object = expectJsonObject(body);
  if (isDeeper(object, MOST_LEVELS))
    throw new BadRequestException(`The request body must be nested at most ${MOST_LEVELS} levels deep`);
  return object;
}

export function expectJsonObject(body: unknown): JsonObject {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as JsonObject;
  throw new BadRequestException('The request body must be a JSON object');
}

/** `undefined`, which JSON cannot contain, for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const bodyOfTypes = (types: readonly string[]) =>
  createParamDecorator((_: unknown, context) => jsonBodyOf(context.switchToHttp().getRequest<HttpRequest>(), types));

export const JsonBody = bodyOfTypes(JSON_TYPES);
export const MergePatchBody = bodyOfTypes([...JSON_TYPES, MERGE_PATCH]);
