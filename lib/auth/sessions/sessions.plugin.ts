/** Refresh and logout, and the own sessions and profile. */
import { BadRequestException, NotFoundException, UnauthorizedException } from '@nestjs/common';
import { guardedLookup } from '../../access/identity/authenticator.js';
import { authenticationOf } from '../../http/caller.js';
import { authFailure } from '../../documents/failures.js';
import { jsonResponse, openObject, refTo, TEXT, TRUE, type NamedSchema } from '../../documents/operation-document.js';
import { UserAccounts } from '../accounts/user-accounts.js';
import type { SessionOptions } from '../options/session-options.js';
import { BOOLEAN, dataAnswer, MOMENT, TEXT_OR_NULL, TOKEN } from '../plugins/document-parts.js';
import { unauthorizedOr, unknown } from '../plugins/document-parts.js';
import { accountEndpoint, type AuthPlugin, type Endpoint, type EndpointCall } from '../plugins/plugin.js';
import { limitByAddress } from '../throttle/attempt.js';
import { clientInfoOf } from '../../http/client-info.js';
import { AuthSession } from './auth-session.js';
import { PROFILE_ENDPOINTS } from './profile-endpoints.js';
import { RefreshTokens } from './refresh-tokens.js';
import { SessionChecks } from './session-checks.js';
import { resolveSessions, SESSION_SETTINGS, type SessionSettings } from './session-settings.js';
import { SessionStore } from './session-store.js';
import { Sessions } from './sessions.js';
import { transportOf, type RefreshTokenTransport } from './refresh-token-transport.js';

const SESSION_SCHEMA: NamedSchema = {
  name: 'AuthSession',
  schema: openObject({
    id: TEXT,
    createdAt: MOMENT,
    lastUsedAt: MOMENT,
    userAgent: TEXT_OR_NULL,
    address: TEXT_OR_NULL,
    current: BOOLEAN,
  }),
};

const SESSIONS = { type: 'array', items: refTo(SESSION_SCHEMA.name) };
const REFRESH_TOKEN = { refreshToken: { ...TEXT, description: 'For `refresh`, once.' } };
const EXPIRES_IN = { expiresIn: { type: 'integer', description: 'Seconds until `token` expires.', examples: [900] } };
const membersOf = ({ isInCookie }: SessionSettings) => ({ ...(!isInCookie && REFRESH_TOKEN), ...EXPIRES_IN });

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

const toSessionView = ({ id, createdAt, lastUsedAt, userAgent, address }: AuthSession) => ({
  id,
  createdAt: timeOf(createdAt),
  lastUsedAt: timeOf(lastUsedAt),
  userAgent,
  address,
});

const invalidToken = (): UnauthorizedException => new UnauthorizedException('Invalid refresh token');

/** The endpoints that take a refresh token, or make it useless. */
function tokenEndpoints(
  settings: SessionSettings,
  { fields, described, read, send, removal }: RefreshTokenTransport,
): Endpoint[] {
  const afterLogout = {
    ...removal,
    ...(settings.clearSiteData && { 'Clear-Site-Data': '"cache", "cookies", "storage"' }),
  };
  /** Pages ask before they know whether the user is logged in: without a token it is no guess. */
  const readToken = (call: EndpointCall): string => {
    const token = read(call);
    if (token === undefined) throw invalidToken();
    return token;
  };
  const where = settings.isInCookie ? 'the cookie' : '`refreshToken`';
  return [
    accountEndpoint({
      name: 'refresh',
      route: 'POST refresh',
      access: 'public',
      ...(settings.isInCookie ? { optionalTexts: {} } : { texts: fields }),
      limit: ({ get }, call) => get(Sessions).attemptOf(readToken(call), call.address),
      summary: 'Refresh the tokens',
      description:
        'Spends the refresh token. One that was spent before ends the session, except within 2 minutes while the new one is unused.',
      ...described,
      answers: {
        200: dataAnswer('A new pair', { ...TOKEN, ...membersOf(settings) }),
        401: authFailure('The refresh token is not valid.', 'Invalid refresh token'),
        ...described.answers,
      },
      async run({ get, setHeaders }, call) {
        const issued = await get(Sessions).refresh(readToken(call), clientInfoOf(call.request));
        if (!issued) throw invalidToken();
        const { members: data, headers } = send(issued);
        setHeaders(call.request, headers);
        return { success: true, message: 'Token refreshed', data };
      },
    }),
    accountEndpoint({
      name: 'logout',
      route: 'POST logout',
      // A client may log out by its refresh token after its access token has expired.
      access: 'public',
      status: 204,
      optionalTexts: fields,
      limit: false,
      summary: 'End this session',
      description: `That of the access token, or that of ${where}.`,
      ...described,
      answers: {
        ...unauthorizedOr('The refresh token is not valid, or there is no token.', 'Invalid refresh token'),
        ...described.answers,
      },
      async run({ get, setHeaders }, call) {
        const { request, user } = call;
        const token = read(call);
        if (token === undefined) {
          const { session, failure } = authenticationOf(request) ?? {};
          if (failure) throw failure;
          const { id } = user();
          if (session === undefined) throw new BadRequestException('This token belongs to no session');
          await get(Sessions).endOwn(String(id), session);
        } else if (!(await get(Sessions).endByToken(token))) throw invalidToken();
        setHeaders(request, afterLogout);
      },
    }),
    accountEndpoint({
      name: 'logoutAll',
      route: 'POST logout-all',
      status: 204,
      summary: 'End all own sessions',
      async run({ get, setHeaders }, { user, request }) {
        await get(UserAccounts).endSessions(user().id);
        setHeaders(request, afterLogout);
      },
    }),
  ];
}

const SESSION_ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'findSessions',
    route: 'GET sessions',
    summary: 'List own sessions',
    answers: { 200: jsonResponse('The 100 used last', openObject({ success: TRUE, data: SESSIONS })) },
    async run({ get }, { user, request }) {
      const current = authenticationOf(request)?.session;
      const own = await get(SessionStore).listOf(String(user().id));
      return { success: true, data: own.map((each) => ({ ...toSessionView(each), current: each.id === current })) };
    },
  }),
  accountEndpoint({
    name: 'endSession',
    route: 'DELETE sessions/:id',
    status: 204,
    summary: 'End an own session',
    answers: unknown('Session'),
    async run({ get }, { user, id }) {
      if (!(await get(Sessions).endOwn(String(user().id), id)))
        throw new NotFoundException(`Session with id ${id} not found`);
    },
  }),
];

/** The plugin of the option `sessions`. @throws InvalidOptionError @example plugins: [sessions({ accessTokenMinutes: 5 })] */
export function sessions(options: SessionOptions = {}): AuthPlugin {
  const settings = resolveSessions(options);
  const transport = transportOf(settings);
  return {
    name: 'sessions',
    tables: [AuthSession],
    providers: [
      { provide: SESSION_SETTINGS, useValue: settings },
      SessionStore,
      RefreshTokens,
      ...(settings.isImmediate ? [SessionChecks] : []),
      Sessions,
    ],
    endpoints: [...tokenEndpoints(settings, transport), ...SESSION_ENDPOINTS, ...PROFILE_ENDPOINTS],
    limits: {
      // The token is authentic, so failures of other clients at the address do not count.
      refresh: ({ tries }) => ({ pair: tries }),
      forgedRefresh: limitByAddress,
    },
    setup(core) {
      core.needMethods('remove');
      core.accessTokenSeconds(settings.accessTokenSeconds);
      if (settings.isInCookie) core.readCookies();
    },
    async issue({ get }, user, context) {
      const { tokens, ...issued } = await get(Sessions).start(user, context);
      return { ...issued, ...transport.send(tokens) };
    },
    hasSession: async ({ get }, ...session) => (await get(SessionStore).find(...session)) !== undefined,
    accountChanged: ({ get }, change) => get(Sessions).onAccountChange(change),
    waysIn: ({ get }) => ({
      kind: 'session',
      list: async (userId) => (await get(SessionStore).listOf(userId)).map(toSessionView),
      revoke: (userId, id) => get(Sessions).endOwn(userId, id),
    }),
    decidesBy: {
      accessTokenSeconds: settings.accessTokenSeconds,
      refreshTokenMs: settings.refreshTokenMs,
      absoluteMs: settings.absoluteMs ?? Infinity,
      maxSessions: settings.maxSessions ?? Infinity,
      tokensOutliveSessions: !settings.isImmediate,
    },
    describe: () => ({ members: membersOf(settings), schemas: [SESSION_SCHEMA] }),
    ...(settings.isImmediate && {
      authenticate: ({ get }, _request, bearer) =>
        bearer.principal && guardedLookup('The session of a token', () => get(SessionChecks).confirm(bearer)),
    }),
  };
}
