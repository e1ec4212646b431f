/** How refresh tokens come from clients and go to them: in JSON, or in a cookie that no script of a page can read. */
import { ForbiddenException } from '@nestjs/common';
import { authFailure } from '../../documents/failures.js';
import { TEXT } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { cookieOf, isFromOwnPage } from '../../http/cookies.js';
import type { Answers } from '../plugins/document-parts.js';
import type { Endpoint, EndpointCall, IssuedParts } from '../plugins/plugin.js';
import type { SessionSettings } from './session-settings.js';

/** What a login and a refresh issue. */
export interface IssuedTokens {
  readonly refreshToken: string;
  readonly [member: string]: unknown;
}

type Headers = NonNullable<IssuedParts['headers']>;

export interface RefreshTokenTransport {
  /** The fields of a body that holds the token. */
  readonly fields: Readonly<Record<string, JsonSchema>>;
  /** What endpoints that take the token say in the OpenAPI document. */
  readonly described: Pick<Endpoint, 'parameters'> & { readonly answers?: Answers };
  /** The token that a request has sent. @throws 403 for a request that a page of another origin may have caused */
  readonly read: (call: EndpointCall) => string | undefined;
  /** The members and headers of an answer that bring the token to the client. */
  readonly send: (issued: IssuedTokens) => Required<Pick<IssuedParts, 'members' | 'headers'>>;
  /** The headers of an answer after which the client has no token. */
  readonly removal: Headers;
}

const inBody: RefreshTokenTransport = {
  fields: { refreshToken: TEXT },
  described: {},
  read: ({ body }) => body['refreshToken'] as string | undefined,
  send: (members) => ({ members, headers: {} }),
  removal: {},
};

/** Browsers accept this prefix with `Secure`, `Path=/` and no `Domain` only: no other host can set the cookie. */
const NAME = '__Host-declarest-refresh';
const FOREIGN = 'This request must come from a page of this server, or have the header X-Requested-With';

const setCookie = (token: string, seconds: number): Headers => ({
  'Set-Cookie': `${NAME}=${token}; Max-Age=${seconds}; Path=/; HttpOnly; Secure; SameSite=Strict`,
});

const inCookie = (lifetimeMs: number): RefreshTokenTransport => ({
  fields: {},
  described: {
    parameters: () => [
      {
        in: 'header',
        name: 'X-Requested-With',
        schema: TEXT,
        description: `Any text. Pages of this server need not send it. The refresh token is in the cookie \`${NAME}\`.`,
      },
    ],
    answers: { 403: authFailure('A page of another origin may have sent the request.', FOREIGN) },
  },
  read({ request }) {
    if (!isFromOwnPage(request)) throw new ForbiddenException(FOREIGN);
    return cookieOf(request, NAME);
  },
  send: ({ refreshToken, ...members }) => ({
    members,
    headers: setCookie(refreshToken, Math.ceil(lifetimeMs / 1000)),
  }),
  removal: setCookie('', 0),
});

export const transportOf = ({ isInCookie, refreshTokenMs }: SessionSettings): RefreshTokenTransport =>
  isInCookie ? inCookie(refreshTokenMs) : inBody;
