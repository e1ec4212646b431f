/** Users of AccessModule in WebSocket gateways, GraphQL resolvers and tools for agents: there too, decorators and rules decide. */
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Authenticated, CurrentUser, fromRequest, type Principal, Public, Roles } from 'declarest';
import { jwks, type JwksOptions } from 'declarest-logins/jwks';
import { McpModule } from 'declarest-mcp';
import { addAccess } from 'declarest/openapi';
import { io, type Socket } from 'socket.io-client';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { documentOf } from '../openapi/described.js';
import { AUDIENCE, type Issuer, startIssuer } from './issuer.js';
import { type NotesApp, startNotes } from './notes-app.js';

const REFUSED = 'Authentication required';
const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');

@WebSocketGateway()
class NotesGateway {
  @Public()
  @SubscribeMessage('open')
  open(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Authenticated()
  @SubscribeMessage('mine')
  mine(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @Roles('ADMIN')
  @SubscribeMessage('admin')
  admin(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
}

@Resolver()
class NotesResolver {
  @Public()
  @Query(() => String)
  open(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Authenticated()
  @Query(() => String)
  mine(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @Roles('ADMIN')
  @Query(() => String)
  admin(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
}

/** A guard of the application, which reads the request of HTTP and of GraphQL. */
@Injectable()
class TicketGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const sent = context.getType<string>() === 'graphql' ? context.getArgByIndex(2).req : context.getArgByIndex(0);
    const ticket = sent.headers['x-ticket'];
    if (ticket !== undefined) sent.user = { name: String(ticket) };
    return ticket !== undefined;
  }
}

const graphql = () =>
  GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true, graphiql: false });

/** The value of the field, or the message of its error. */
async function ask({ url }: NotesApp, query: string, headers: Record<string, string> = {}): Promise<unknown> {
  const { json } = await request(url, 'POST', '/graphql', { json: { query: `{ ${query} }` }, headers });
  return json.errors?.[0].message ?? json.data[query];
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: NotesApp;
  let issuer: Issuer;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.disconnect();
    await app?.close();
  });
  const startWithTokens = async (parts: Parameters<typeof startNotes>[2], options: Partial<JwksOptions> = {}) => {
    issuer = await startIssuer();
    const authenticate = jwks({ issuer: issuer.issuer, audience: AUDIENCE, ...options });
    app = await startNotes(platform, { authenticate }, parts);
  };

  /** The result of the handler, or the message of the exception. */
  async function send(event: string, token?: string, extraHeaders: Record<string, string> = {}): Promise<string> {
    const socket = io(app.url, {
      forceNew: true,
      reconnection: false,
      transports: Object.keys(extraHeaders).length > 0 ? ['websocket'] : ['polling', 'websocket'],
      extraHeaders,
      ...(token !== undefined && { auth: { token } }),
    });
    sockets.push(socket);
    return new Promise((resolve, reject) => {
      socket.once('connect_error', reject);
      socket.once('exception', ({ message }: { message: string }) => resolve(message));
      socket.emit(event, {}, resolve);
    });
  }

  it('a gateway knows tokens of another issuer', async () => {
    await startWithTokens({ providers: [NotesGateway] });
    const [ann, boss] = [await issuer.sign(), await issuer.sign({ sub: 'boss', roles: ['ADMIN'] })];
    expect([await send('open'), await send('mine'), await send('mine', 'invalid')]).toEqual([
      'anonymous',
      REFUSED,
      REFUSED,
    ]);
    expect([await send('open', ann), await send('mine', ann)]).toEqual(['user ann', 'user ann']);
    expect([await send('admin', ann), await send('admin', boss)]).toEqual(['Admin access required', 'user boss']);
  });

  it('a gateway and a resolver know tokens in a cookie, not of pages of another origin', async () => {
    const parts = { imports: [graphql()], providers: [NotesGateway, NotesResolver] };
    await startWithTokens(parts, { credential: { in: 'cookie', name: '__session' } });
    const token = await issuer.sign();
    const cookie = `__session=${token}`;
    const { origin } = new URL(app.url);
    expect(await send('mine', undefined, { cookie, origin })).toBe('user ann');
    expect(await send('mine', undefined, { cookie, origin: 'https://evil.example' })).toBe(REFUSED);
    expect(await send('mine', token)).toBe(REFUSED);
    expect(await ask(app, 'mine', { cookie, origin })).toBe('user ann');
    expect(await ask(app, 'mine', { cookie, origin: 'https://evil.example' })).toBe(REFUSED);
    expect(await ask(app, 'mine', { cookie })).toBe(REFUSED);
  });

  it('a gateway and a resolver know tokens in a header', async () => {
    const parts = { imports: [graphql()], providers: [NotesGateway, NotesResolver] };
    await startWithTokens(parts, { credential: { in: 'header', name: 'X-Token' } });
    const headers = { 'x-token': await issuer.sign() };
    expect([await send('mine', undefined, headers), await ask(app, 'mine', headers)]).toEqual(['user ann', 'user ann']);
    expect([await send('mine'), await ask(app, 'mine')]).toEqual([REFUSED, REFUSED]);
  });

  it('a resolver knows tokens of another issuer', async () => {
    await startWithTokens({ imports: [graphql()], providers: [NotesResolver] });
    const of = async (claims = {}) => ({ authorization: `Bearer ${await issuer.sign(claims)}` });
    expect([await ask(app, 'open'), await ask(app, 'mine')]).toEqual(['anonymous', REFUSED]);
    expect([await ask(app, 'open', await of()), await ask(app, 'mine', await of())]).toEqual(['user ann', 'user ann']);
    expect(await ask(app, 'admin', await of())).toBe('Admin access required');
    expect(await ask(app, 'admin', await of({ roles: ['ADMIN'] }))).toBe('user ann');
  });

  it('a resolver knows the users of guards; a gateway, whose guards have no request, knows none', async () => {
    const authenticate = fromRequest(({ user }) => user && { id: user.name }, { guards: [TicketGuard] });
    app = await startNotes(
      platform,
      { authenticate },
      { imports: [graphql()], providers: [NotesResolver, NotesGateway] },
    );
    const headers = { 'x-ticket': 'ann' };
    expect([await ask(app, 'open'), await ask(app, 'mine')]).toEqual(['anonymous', REFUSED]);
    expect([await ask(app, 'open', headers), await ask(app, 'mine', headers)]).toEqual(['user ann', 'user ann']);
    expect(await ask(app, 'admin', headers)).toBe('Admin access required');
    expect(await send('mine')).toBe(REFUSED);
  });

  it('tools are listed and called with tokens of another issuer', async () => {
    await startWithTokens({
      imports: [McpModule.forRoot({ url: 'https://shop.example/mcp', audience: AUDIENCE })],
      configure: (created) => McpModule.setup(created, () => addAccess(documentOf(created), created)),
    });
    const connect = async (claims: object): Promise<Client> => {
      const headers = { authorization: `Bearer ${await issuer.sign(claims)}` };
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      await client.connect(new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { requestInit: { headers } }));
      return client;
    };
    const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
    const [ann, boss] = [await connect({}), await connect({ sub: 'boss', roles: ['ADMIN'] })];
    const onlyForBoss = (await namesOf(boss)).filter((name) => /admin/i.test(name));
    expect([onlyForBoss.length, (await namesOf(ann)).filter((name) => /admin/i.test(name))]).toEqual([1, []]);
    const created = await ann.callTool({ name: 'createNote', arguments: { body: { text: 'of ann' } } });
    expect(created.structuredContent).toMatchObject({ data: { writer: 'ann', text: 'of ann' } });
    const refused = await boss.callTool({ name: 'deleteNote', arguments: { id: 1 } });
    expect(refused.structuredContent).toEqual({ status: 403, message: 'Owner access required' });
    const closed = await ann.callTool({ name: onlyForBoss[0] as string, arguments: {} });
    expect(closed.structuredContent).toEqual({ status: 403, message: 'Admin access required' });
    await Promise.all([ann.close(), boss.close()]);
  });
});
