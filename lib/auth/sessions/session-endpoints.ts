/** The endpoints of the option `sessions`. */
import { BadRequestException, NotFoundException, UnauthorizedException } from '@nestjs/common';
import { authenticationOf } from '../../access/principal.js';
import { authFailure } from '../../documents/failures.js';
import { closedObject, openObject, refTo } from '../../documents/operation-document.js';
import type { AuthSession } from './auth-session.js';
import type { Attempt } from '../throttle/attempts.js';
import { readTexts } from '../users/user-checks.js';
import { LIMITED, pathId, TEXT, unauthorizedOr, unknown } from '../plugins/endpoint-document.js';
import type { Endpoint } from '../plugins/endpoint.js';

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

const toSessionView = ({ id, createdAt, lastUsedAt, userAgent, address }: AuthSession, current?: string) => ({
  id,
  createdAt: timeOf(createdAt),
  lastUsedAt: timeOf(lastUsedAt),
  userAgent,
  address,
  current: id === current,
});

export const SESSION_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'refresh',
    route: 'POST refresh',
    access: 'public',
    status: 200,
    body: 'required',
    sendsTokens: true,
    async run({ sessions, attempts, logins }, { body, address, request }) {
      const { refreshToken } = readTexts(body, ['refreshToken']);
      const sent = sessions.read(refreshToken);
      const attempt: Attempt = sent
        ? { action: 'refresh', account: sent.sessionId, address }
        : { action: 'forgedRefresh', address };
      const data = await attempts.run(attempt, async () => {
        const tokens = sent && (await logins.refresh(sent, request));
        if (!tokens) throw new UnauthorizedException('Invalid refresh token');
        return tokens;
      });
      return { success: true, message: 'Token refreshed', data };
    },
    describe: ({ pair }) => ({
      summary: 'Refresh the tokens',
      description:
        'Spends the refresh token. One that was spent before ends the session, except within 2 minutes while the new one is unused.',
      body: closedObject({ refreshToken: TEXT }),
      responses: {
        200: pair,
        401: authFailure('The refresh token is not valid.', 'Invalid refresh token'),
        ...LIMITED,
      },
    }),
  },
  {
    name: 'logout',
    route: 'POST logout',
    // A client may log out by its refresh token after its access token has expired.
    access: 'public',
    status: 204,
    body: 'optional',
    async run({ sessions }, { body, request, user }) {
      const { refreshToken } = readTexts(body, [], ['refreshToken']);
      if (refreshToken !== undefined) {
        if (!(await sessions.endByToken(refreshToken))) throw new UnauthorizedException('Invalid refresh token');
        return;
      }
      const { session, failure } = authenticationOf(request) ?? {};
      if (failure) throw failure;
      const { id } = user();
      if (session === undefined) throw new BadRequestException('This token belongs to no session');
      await sessions.endOwn(String(id), session);
    },
    describe: () => ({
      summary: 'End this session',
      description: 'That of the access token, or that of `refreshToken`.',
      body: closedObject({ refreshToken: TEXT }, []),
      responses: {
        ...unauthorizedOr('The refresh token is not valid, or there is no token.', 'Invalid refresh token'),
      },
    }),
  },
  {
    name: 'logoutAll',
    route: 'POST logout-all',
    access: 'authenticated',
    status: 204,
    async run({ sessions }, { user }) {
      await sessions.endAll(String(user().id));
    },
    describe: () => ({ summary: 'End all own sessions' }),
  },
  {
    name: 'findSessions',
    route: 'GET sessions',
    access: 'authenticated',
    status: 200,
    async run({ sessions }, { user, request }) {
      const current = authenticationOf(request)?.session;
      const own = await sessions.listOf(String(user().id));
      return { success: true, data: own.map((each) => toSessionView(each, current)) };
    },
    describe: ({ answer }) => ({
      summary: 'List own sessions',
      responses: {
        200: answer(
          'The 100 used last',
          openObject({ success: { const: true }, data: { type: 'array', items: refTo('AuthSession') } }),
        ),
      },
    }),
  },
  {
    name: 'endSession',
    route: 'DELETE sessions/:id',
    access: 'authenticated',
    status: 204,
    async run({ sessions }, { user, id }) {
      if (!(await sessions.endOwn(String(user().id), id)))
        throw new NotFoundException(`Session with id ${id} not found`);
    },
    describe: () => ({ summary: 'End an own session', parameters: pathId(TEXT), responses: unknown('Session') }),
  },
];
