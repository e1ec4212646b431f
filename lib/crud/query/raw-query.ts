/** The parameter of a handler that receives the query string. */
import { BadRequestException, createParamDecorator } from '@nestjs/common';
import { decodePath, pathOf, queryOf, type HttpRequest } from '../../http/http-request.js';
import type { ListQuery } from '../declare/envelope.js';

const MAX_BYTES = 4_096;

/** Read from the URL itself, so that the query parsers of both platforms make no difference. @throws 400 */
export function rawQueryOf(request: HttpRequest): ListQuery {
  const sent = queryOf(request);
  const query = Object.create(null) as Record<string, string | string[]>;
  if (sent === '') return query;
  const bytes = Buffer.byteLength(sent);
  if (bytes > MAX_BYTES)
    throw new BadRequestException(`The query string must be at most ${MAX_BYTES} bytes long, got ${bytes}`);
  for (const [name, value] of new URLSearchParams(sent)) {
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (typeof earlier === 'string') query[name] = [earlier, value];
    else earlier.push(value);
  }
  return query;
}

/** @param names of parameters that the application reads itself */
export const withoutParameters = (query: ListQuery, names: ReadonlySet<string>): ListQuery =>
  names.size === 0 ? query : Object.fromEntries(Object.entries(query).filter(([name]) => !names.has(name)));

/** A key of several columns as it was sent: decoded, a comma of a value is as one between values. */
export function sentKey(request: HttpRequest | undefined, value: string): string {
  const query = request ? [...new URLSearchParams(queryOf(request).replaceAll('%', '%25')).values()] : [];
  const sent = request ? [...pathOf(request).split('/'), ...query] : query;
  return sent.findLast((each) => /[,;]/.test(each) && decodePath(each) === value) ?? value;
}

export const RawQuery = createParamDecorator((_: unknown, context) =>
  rawQueryOf(context.switchToHttp().getRequest<HttpRequest>()),
);
