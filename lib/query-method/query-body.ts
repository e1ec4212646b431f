/** Reads the body of a QUERY request: the parameters that a GET has in its query string, as a form or as JSON. */
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import { queryOf, type HttpRequest } from '../http/http-request.js';
import { hasBody, jsonBodyOf, parseJson, type JsonObject } from '../http/json-body.js';

/** The limit of the body in bytes, and of the parameters that it stands for in characters. */
export const MAX_BODY = 100 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const TYPES = ['application/json', FORM];
/** A list of structured fields (RFC 9651), in which a media type is a token. */
export const ACCEPTED = TYPES.join(', ');

const requests = new WeakSet<HttpRequest>();

const mediaTypeOf = ({ headers }: HttpRequest): string =>
  (headers['content-type'] ?? '').replace(/;.*$/s, '').trim().toLowerCase();

/**
 * Marks the requests of a QUERY route of the package, as an application may have QUERY routes of its own.
 * @throws 415 for another media type, which platforms report in other words
 */
export function takeBodyAsQuery(request: HttpRequest): void {
  requests.add(request);
  if (hasBody(request) && !TYPES.includes(mediaTypeOf(request)))
    throw new UnsupportedMediaTypeException(`The request body must be ${TYPES.join(' or ')} in UTF-8`);
}

/**
 * The parameters of the body; `undefined` where the request has them in its URL.
 * @throws 400 for a body that has no parameters, 413 for too many, 415 for another charset
 */
export function bodyQueryOf(request: HttpRequest): URLSearchParams | undefined {
  if (request.method !== 'QUERY' || !requests.has(request)) return undefined;
  if (queryOf(request) !== '')
    throw new BadRequestException('QUERY must have its parameters in the body, got some in the URL');
  const { method, headers, body } = request;
  const isForm = mediaTypeOf(request) === FORM;
  if (typeof body !== 'string') return parametersOf(jsonBodyOf(request, TYPES), !isForm);
  const json = isForm ? {} : parseJson(body);
  if (json === undefined) throw new BadRequestException('The request body is not a valid JSON object');
  const checked = jsonBodyOf({ method, headers, body: json }, TYPES);
  return isForm ? new URLSearchParams(body) : parametersOf(checked, true);
}

/** Operators whose values are separated by commas. */
const LISTS = /\[(in|nin|between)\]$/;

/** @param isJson whether a comma in an array is part of a value */
function parametersOf(members: JsonObject, isJson: boolean): URLSearchParams {
  const parameters = new URLSearchParams();
  let size = 0;
  for (const [name, value] of leavesOf(members)) {
    const texts = [value].flat().map((each) => textOf(name, each));
    if (texts.length === 0) throw invalid(name, 'must have at least one value, got an empty array');
    size += texts.reduce((sum, { length }) => sum + length, name.length);
    // Each name repeats those around it: the parameters may be much longer than the body.
    if (size > MAX_BODY)
      throw new PayloadTooLargeException(`The parameters must have at most ${MAX_BODY} characters together`);
    const isEscaped = isJson && Array.isArray(value) && LISTS.test(name);
    for (const each of texts) parameters.append(name, isEscaped ? each.replaceAll(',', String.raw`\,`) : each);
  }
  return parameters;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** `{filter: {price: {gte: 5}}}` → `filter[price][gte]` and 5. Arrays of plain values stay together. */
function* leavesOf(members: object, path = ''): Generator<[name: string, value: unknown]> {
  for (const [key, value] of Object.entries(members) as [string, unknown][]) {
    const name = path === '' ? key : `${path}[${key}]`;
    if (isNested(value) && !(Array.isArray(value) && !value.some(isNested))) yield* leavesOf(value, name);
    else yield [name, value];
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  const isNumber = typeof value === 'number';
  // Another number than that of the body would be looked for.
  if (isNumber && (!Number.isInteger(value) || Number.isSafeInteger(value))) return String(value);
  const expected = isNumber ? 'a text, because JSON numbers are exact up to 2^53' : 'a text, a number or a boolean';
  throw invalid(name, `must be ${expected}, got ${JSON.stringify(value)}`);
}

const invalid = (field: string, message: string): BadRequestException =>
  new BadRequestException({ message: 'The query is not valid', errors: [{ field, message }] });
