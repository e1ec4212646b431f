/** WebSocket gateways: decorators decide, and the token comes from the handshake of socket.io. */
import { jest } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authenticated, CurrentUser, type Principal, Public, Roles } from 'declarest';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { bootError, linesOf, PLATFORMS, type RunningApp } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';
import { ruledModule, startRuled, TOKENS, type RuledParts } from './ruled-app.js';

const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');

abstract class InheritedMessages {
  @SubscribeMessage('inherited')
  inherited(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
}

@WebSocketGateway()
class OrdersGateway extends InheritedMessages {
  @Public()
  @SubscribeMessage('public')
  public(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Authenticated()
  @SubscribeMessage('authenticated')
  authenticated(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @Roles('EDITOR', 'SUPPORT_AGENT')
  @SubscribeMessage('roles')
  roles(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @SubscribeMessage('undecorated')
  undecorated(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  notAHandler() {}
}

@Roles('ADMIN')
@WebSocketGateway({ namespace: 'admin' })
class AdminGateway {
  @SubscribeMessage('class')
  ofClass(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @Roles('SUPPORT_AGENT')
  @SubscribeMessage('both')
  both(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
}

@Public()
@WebSocketGateway({ namespace: 'open' })
class OpenGateway {
  @SubscribeMessage('class')
  ofClass(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Roles('ADMIN')
  @SubscribeMessage('closed')
  closed(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
}

const BEARER = `Bearer ${TOKENS.USER}`;
const REFUSED = 'Authentication required';
const GATEWAYS = [OrdersGateway, AdminGateway, OpenGateway];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.disconnect();
});

type Options = Partial<ManagerOptions & SocketOptions>;

function connect({ url }: RunningApp, options: Options = {}, namespace = ''): Socket {
  const socket = io(`${url}/${namespace}`, { forceNew: true, reconnection: false, ...options });
  sockets.push(socket);
  return socket;
}

/** The result of the handler, or the message of the exception. */
function send(socket: Socket, event: string): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('connect_error', reject);
    socket.once('exception', ({ message }: { message: string }) => resolve(message));
    socket.emit(event, { any: 'data' }, resolve);
  });
}

const withToken = (token: unknown): Options => ({ auth: { token } });

describe.each(PLATFORMS)('WebSocket gateways on %s', (platform) => {
  const start = (parts: RuledParts = {}, gateways: Type[] = GATEWAYS) =>
    startRuled(platform, { providers: gateways, ...parts });

  describe('with a SecurityConfig', () => {
    let app: RunningApp;
    beforeAll(async () => {
      app = await start({
        rules: ({ requireRole }) => requireRole('ADMIN', '/**'),
        auth: { roleHierarchy: { CHIEF: ['ADMIN'] }, enforcedRoles: [] },
      });
    });
    afterAll(() => app.close());

    const CHIEF = makeToken({ payload: claims({ roles: ['CHIEF'] }) });
    const SENT = { ...TOKENS, CHIEF, invalid: 'invalid' };

    it.each<[message: string, token: keyof typeof SENT, expected: string]>([
      ['public', 'ANYBODY', 'anonymous'],
      ['public', 'USER', 'user 1'],
      ['public', 'invalid', 'anonymous'],
      ['authenticated', 'ANYBODY', REFUSED],
      ['authenticated', 'USER', 'user 1'],
      ['authenticated', 'invalid', REFUSED],
      ['roles', 'ANYBODY', REFUSED],
      ['roles', 'USER', 'Editor or support agent access required'],
      ['roles', 'SUPPORT_AGENT', 'user 1'],
      ['undecorated', 'ANYBODY', REFUSED],
      ['undecorated', 'USER', 'user 1'],
      ['inherited', 'ANYBODY', REFUSED],
      ['admin/class', 'USER', 'Admin access required'],
      ['admin/class', 'CHIEF', 'user 1'],
      ['admin/both', 'ADMIN', 'Support agent access required'],
      ['admin/both', 'BOTH', 'user 1'],
      ['open/class', 'ANYBODY', 'anonymous'],
      ['open/closed', 'USER', 'Admin access required'],
    ])('[3.7] decides by decorators, not by URL rules: %s with token %s', async (message, token, expected) => {
      const [event = '', namespace] = message.split('/').toReversed();
      const socket = connect(app, token === 'ANYBODY' ? {} : withToken(SENT[token]), namespace);
      expect(await send(socket, event)).toBe(expected);
    });

    const expired = makeToken({ payload: claims({ exp: 1 }) });
    it.each<[where: string, options: Options, expected: string]>([
      ['auth.token', withToken(TOKENS.USER), 'user 1'],
      ['auth.token with the scheme', withToken(`bearer ${TOKENS.USER}`), 'user 1'],
      ['the Authorization header', { extraHeaders: { authorization: BEARER } }, 'user 1'],
      ['the header of a WebSocket', { transports: ['websocket'], extraHeaders: { authorization: BEARER } }, 'user 1'],
      ['the header without the scheme', { extraHeaders: { authorization: TOKENS.USER } }, REFUSED],
      [
        'two headers',
        { transports: ['websocket'], extraHeaders: { authorization: [BEARER, BEARER] as never } },
        REFUSED,
      ],
      [
        'an expired auth.token beside a valid header',
        { ...withToken(expired), extraHeaders: { authorization: BEARER } },
        REFUSED,
      ],
      ['an empty auth.token', withToken(''), REFUSED],
      ['an auth.token that is not text', withToken([TOKENS.USER]), REFUSED],
      ['the query', { query: { token: TOKENS.USER } }, REFUSED],
    ])('[3.7] reads the token from %s', async (_, options, expected) => {
      expect(await send(connect(app, options), 'authenticated')).toBe(expected);
    });

    it('[3.7] refuses the messages of a connection whose token has expired', async () => {
      const now = Date.now();
      const socket = connect(app, withToken(makeToken({ payload: claims({ exp: Math.floor(now / 1000) + 5 }) })));
      expect(await send(socket, 'authenticated')).toBe('user 1');
      // Less than the time after which socket.io ends a silent connection.
      const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 10_000);
      const answers = [await send(socket, 'authenticated'), await send(socket, 'public')];
      clock.mockRestore();
      expect(answers).toEqual([REFUSED, 'anonymous']);
    });

    it('[3.7] warns once about the handlers without a decorator', () => {
      const warnings = linesOf(app.logs, 'warn').filter((line) => line.includes('gateways and resolvers'));
      expect(warnings).toEqual([
        expect.stringMatching(/ for OrdersGateway\.undecorated, OrdersGateway\.inherited\. Add @Public\(\)/),
      ]);
    });
  });

  it.each<[title: string, parts: RuledParts, ...expected: [anonymous: string, user: string, isListed: boolean]]>([
    ['no SecurityConfig', { rules: false }, 'anonymous', 'user 1', false],
    ['authenticated', { rules: false, auth: { defaultAccess: 'authenticated' } }, REFUSED, 'user 1', true],
    ['public', { auth: { defaultAccess: 'public' } }, 'anonymous', 'user 1', false],
    ['denied', { auth: { defaultAccess: 'denied' } }, REFUSED, 'Access denied', true],
  ])('[3.7] the default access (%s) decides where no decorator does', async (_, parts, anonymous, user, isListed) => {
    const app = await start(parts);
    const socket = connect(app, withToken(TOKENS.USER));
    expect(await send(connect(app), 'undecorated')).toBe(anonymous);
    expect(await send(socket, 'undecorated')).toBe(user);
    expect([await send(connect(app), 'public'), await send(socket, 'authenticated')]).toEqual(['anonymous', 'user 1']);
    expect(linesOf(app.logs, 'warn').some((line) => line.includes('OrdersGateway.undecorated'))).toBe(isListed);
    await app.close();
  });

  it('[3.7] uses the token that the application has given to the connection', async () => {
    @WebSocketGateway()
    class SessionGateway {
      @Public()
      @SubscribeMessage('sign out')
      signOut(client: { handshake: { auth: object } }) {
        client.handshake.auth = {};
        return 'done';
      }
      @SubscribeMessage('who')
      who(@CurrentUser() user: Principal) {
        return nameOf(user);
      }
    }
    const app = await start({}, [SessionGateway]);
    const socket = connect(app, withToken(TOKENS.USER));
    const answers = [await send(socket, 'who'), await send(socket, 'sign out'), await send(socket, 'who')];
    expect(answers).toEqual(['user 1', 'done', REFUSED]);
    await app.close();
  });

  it('[3.7] refuses to start where @Public() opens @Roles() of its class', async () => {
    @Roles('ADMIN')
    @WebSocketGateway()
    class LeakyGateway {
      @Public()
      @SubscribeMessage('leak')
      leak() {}
    }
    const error = await bootError(platform, ruledModule({ providers: [LeakyGateway] }));
    expect(error.message).toMatch(/@Public on LeakyGateway\.leak.*@Roles on LeakyGateway/);
  });
});
