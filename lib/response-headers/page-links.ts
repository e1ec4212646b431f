/** The option `enablePageLinks`: the `Link` header of pages (RFC 8288). */
import { UseInterceptors, type NestInterceptor } from '@nestjs/common';
import { map } from 'rxjs';
import type { HeaderWriter, HttpRequest } from '../http/http-request.js';
import { equivalentQueryOf } from '../query-method/query-body.js';

export interface PageLinkOptions {
  /**
   * Pages have a `Link` header with the relations `first`, `prev`, `next` and `last`, as far as they exist.
   * @default false
   * @example enablePagination: true, enablePageLinks: true
   */
  enablePageLinks?: boolean;
}

/** What the links need of the answer of a list. */
interface Page {
  readonly data?: unknown;
  readonly metadata?: { readonly pagination?: Pagination };
}

interface Pagination {
  readonly page?: number;
  readonly size: number;
  readonly totalPages?: number;
  readonly estimated?: true;
  readonly next?: string | null;
}

/** Parameters of a link by name; without a value, the parameter is left out. */
type Parameters = Readonly<Record<string, string | number | undefined>>;
type Links = readonly (readonly [relation: string, parameters: Parameters])[];

/** Proxies refuse long headers, and a header has up to four times the query. */
const MAX_QUERY = 700;

const interceptor: NestInterceptor = {
  intercept(context, next) {
    const http = context.switchToHttp();
    const add = (answer: unknown): unknown => {
      const link = linkHeader(http.getRequest<HttpRequest>(), answer as Page | null | undefined);
      const response = http.getResponse<HeaderWriter>();
      const earlier = [response.getHeader?.('Link') ?? []].flat();
      if (link !== undefined) response.header('Link', [...earlier, link].join(', '));
      return answer;
    };
    return next.handle().pipe(map(add));
  },
};

/** Must be called before Nest registers the route of a list. */
export const addPageLinks = (method: object): void => void UseInterceptors(interceptor)({}, '', { value: method });

function linkHeader(request: HttpRequest, answer: Page | null | undefined): string | undefined {
  const pagination = answer?.metadata?.pagination;
  const query = equivalentQueryOf(request);
  if (!pagination || query.length > MAX_QUERY) return undefined;
  const isFull = Array.isArray(answer.data) && answer.data.length >= pagination.size;
  const links = pagination.page === undefined ? cursorLinks(query, pagination) : numberedLinks(pagination, isFull);
  // A reference that begins with `?` keeps the path of the request, as the client knows it.
  return links.map(([relation, parameters]) => `<?${withParameters(query, parameters)}>; rel="${relation}"`).join(', ');
}

/** @param isFull whether the page has as many records as it may have: without a counted total, there may be another one */
function numberedLinks({ page = 1, totalPages, estimated }: Pagination, isFull: boolean): Links {
  const last = totalPages === undefined || estimated ? undefined : Math.max(1, totalPages);
  const hasNext = last === undefined ? isFull : page < last;
  return [
    ['first', { page: 1 }],
    ...(page > 1 ? [['prev', { page: Math.min(page - 1, last ?? page) }] as const] : []),
    ...(hasNext ? [['next', { page: page + 1 }] as const] : []),
    ...(last === undefined ? [] : [['last', { page: last }] as const]),
  ];
}

/** The first page is one by cursor too, where clients choose. */
function cursorLinks(query: string, { next }: Pagination): Links {
  const isFirst = new URLSearchParams(query).get('after') === null;
  return [
    ['first', isFirst ? {} : { after: undefined, pagination: 'cursor' }],
    ...(next == null ? [] : [['next', { after: next }] as const]),
  ];
}

/** The query as sent, with other values for some parameters. */
function withParameters(query: string, parameters: Parameters): string {
  const kept = query.split('&').filter((each) => {
    const [name = ''] = new URLSearchParams(each).keys();
    return each !== '' && !Object.hasOwn(parameters, name);
  });
  const added = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`));
  // What no URI has could end the reference, or the header.
  return [...kept, ...added].join('&').replaceAll(/[^!-~]|[<>"\\^`{|}]/g, encodeURIComponent);
}
