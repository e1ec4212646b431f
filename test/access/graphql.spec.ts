/** GraphQL resolvers: decorators decide, and the token comes from the request in the context. */
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { jest } from '@jest/globals';
import type { Type } from '@nestjs/common';
import {
  Context,
  Field,
  GraphQLModule,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { Authenticated, CurrentUser, type Principal, Public, Roles } from 'declarest';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS, type Platform, type RunningApp } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';
import { ruledModule, type Declare, startRuled, TOKENS, type RuledParts, type Who } from './ruled-app.js';

const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');

@ObjectType()
class Order {
  @Field(() => Int)
  id!: number;
}

@Resolver(() => Order)
class OrderResolver {
  @Public()
  @Query(() => String)
  open(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Public()
  @Query(() => String)
  whoAmI(@Context() { req }: { req: { user?: Principal } }) {
    return nameOf(req.user);
  }
  @Authenticated()
  @Query(() => String)
  mine(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @Roles('ADMIN')
  @Mutation(() => String)
  remove(@CurrentUser() user: Principal) {
    return nameOf(user);
  }
  @Query(() => String)
  undecorated(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Public()
  @Query(() => Order)
  order() {
    return { id: 7 };
  }
  @ResolveField(() => String)
  buyer(@Parent() { id }: Order) {
    return `buyer ${id}`;
  }
  @Roles('ADMIN')
  @ResolveField(() => String)
  margin() {
    return 'margin';
  }
}

@Roles('ADMIN')
@Resolver()
class AdminResolver {
  @Query(() => String)
  stats() {
    return 'stats';
  }
}

type Config = Partial<ApolloDriverConfig>;

const graphql = (config: Config = {}) =>
  GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true, graphiql: false, ...config });

const start = (platform: Platform, parts: RuledParts = {}, config: Config = {}) =>
  startRuled(platform, { imports: [graphql(config)], providers: [OrderResolver, AdminResolver], ...parts });

/** The value of the field, or the message and code of its error. */
async function ask({ url }: RunningApp, query: string, token?: string): Promise<unknown> {
  const answer = await request(url, 'POST', '/graphql', { json: { query }, ...(token !== undefined && { token }) });
  const [error] = answer.json?.errors ?? [];
  if (!answer.json || answer.json.error) return `${answer.status} ${answer.text}`;
  return error ? `${error.message} (${error.extensions.code})` : Object.values(answer.json.data)[0];
}

const REFUSED = 'Authentication required (UNAUTHENTICATED)';
/** The body of the response to a refused HTTP request. */
const HTTP_REFUSED = '401 {"error":"Authentication required"}';
const FORBIDDEN = 'Admin access required (FORBIDDEN)';

describe.each(PLATFORMS)('GraphQL resolvers on %s', (platform) => {
  describe('with a SecurityConfig', () => {
    let app: RunningApp;
    beforeAll(async () => {
      app = await start(platform, { routes: ['GET x'], auth: { enforcedRoles: [] } });
    });
    afterAll(() => app.close());

    it.each<[operation: string, who: Who | 'invalid', expected: unknown]>([
      ['{ open }', 'ANYBODY', 'anonymous'],
      ['{ open }', 'invalid', 'anonymous'],
      ['{ open }', 'USER', 'user 1'],
      ['{ mine }', 'ANYBODY', REFUSED],
      ['{ mine }', 'invalid', REFUSED],
      ['{ mine }', 'USER', 'user 1'],
      ['mutation { remove }', 'ANYBODY', REFUSED],
      ['mutation { remove }', 'USER', FORBIDDEN],
      ['mutation { remove }', 'ADMIN', 'user 1'],
      ['{ stats }', 'USER', FORBIDDEN],
      ['{ stats }', 'ADMIN', 'stats'],
      ['{ undecorated }', 'ANYBODY', REFUSED],
      ['{ undecorated }', 'USER', 'user 1'],
      // Without fieldResolverEnhancers, Nest runs no guard for fields.
      ['{ order { id buyer margin } }', 'ANYBODY', { id: 7, buyer: 'buyer 7', margin: 'margin' }],
    ])('[3.7] decides by decorators: %s with token %s', async (operation, who, expected) => {
      expect(await ask(app, operation, who === 'invalid' ? who : TOKENS[who])).toEqual(expected);
    });

    it('[3.7] decides on each field of one operation', async () => {
      const answer = await request(app.url, 'POST', '/graphql', { json: { query: '{ open mine }' } });
      expect(answer.json.errors).toEqual([expect.objectContaining({ path: ['mine'] })]);
    });

    it('[3.7] warns once about the queries without a decorator, not about fields', () => {
      expect(linesOf(app.logs, 'warn').filter((line) => line.includes('gateways and resolvers'))).toEqual([
        expect.stringContaining('decides for OrderResolver.undecorated. Add'),
      ]);
    });
  });

  it.each<[title: string, parts: RuledParts, anonymous: string, user: string]>([
    ['no SecurityConfig', { rules: false }, 'anonymous', 'user 1'],
    ['public', { auth: { defaultAccess: 'public' } }, 'anonymous', 'user 1'],
    ['denied', { auth: { defaultAccess: 'denied' } }, REFUSED, 'Access denied (FORBIDDEN)'],
  ])('[3.7] the default access (%s) decides where no decorator does', async (_, parts, anonymous, user) => {
    const app = await start(platform, parts);
    expect(await ask(app, '{ undecorated }')).toBe(anonymous);
    expect(await ask(app, '{ undecorated }', TOKENS.USER)).toBe(user);
    expect([await ask(app, '{ open }'), await ask(app, '{ mine }', TOKENS.USER)]).toEqual(['anonymous', 'user 1']);
    await app.close();
  });

  it.each<[title: string, config: Config]>([
    [
      'a context with req',
      { context: (given: { req?: unknown }) => ({ req: platform === 'express' ? given.req : given }) },
    ],
    ['a context with request', { context: (given: { req?: unknown }) => ({ request: given.req ?? given, req: {} }) }],
    ['a context with nothing', { context: () => ({}) }],
  ])('[3.7] reads the token from the request of %s', async (_, config) => {
    const app = await start(platform, {}, config);
    expect([await ask(app, '{ mine }', TOKENS.USER), await ask(app, '{ mine }')]).toEqual(['user 1', REFUSED]);
    await app.close();
  });

  it('[3.7] decides on fields where fieldResolverEnhancers has guards', async () => {
    const app = await start(platform, {}, { fieldResolverEnhancers: ['guards'] });
    expect(await ask(app, '{ order { buyer } }')).toBe(REFUSED);
    expect(await ask(app, '{ order { buyer } }', TOKENS.USER)).toEqual({ buyer: 'buyer 7' });
    expect(await ask(app, '{ order { margin } }', TOKENS.USER)).toBe(FORBIDDEN);
    await app.close();
  });

  it('[3.7] refuses to start where @Public() opens @Roles() of its class', async () => {
    @Roles('ADMIN')
    @Resolver()
    class LeakyResolver {
      @Public()
      @Query(() => String)
      leak() {
        return '';
      }
    }
    const root = ruledModule({ imports: [graphql()], providers: [LeakyResolver as Type] });
    expect((await bootError(platform, root)).message).toMatch(
      /@Public on LeakyResolver\.leak.*@Roles on LeakyResolver/,
    );
  });

  it('[3.7] authenticates each operation of a graphql-ws connection', async () => {
    const token = makeToken({ payload: claims({ exp: Math.floor(Date.now() / 1000) + 5 }) });
    class AuthorizedSocket extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols, { headers: { authorization: `Bearer ${token}` } });
      }
    }
    const context = ({ extra }: { extra?: { request: object } }) => (extra ? { req: extra.request } : {});
    const app = await start(platform, {}, { subscriptions: { 'graphql-ws': true }, context });
    const url = `${app.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: AuthorizedSocket, lazy: false });
    const query = async (text: string): Promise<unknown> => {
      const { value } = await client.iterate({ query: text }).next();
      return value.errors?.[0].message ?? Object.values(value.data);
    };
    expect(await query('{ open mine }')).toEqual(['user 1', 'user 1']);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
    const answers = [await query('{ mine }'), await query('{ open whoAmI }')];
    clock.mockRestore();
    expect(answers).toEqual(['Authentication required', ['anonymous', 'anonymous']]);
    await client.dispose();
    await app.close();
  });

  it('[3.7] finds no token in a graphql-ws connection without a request in the context', async () => {
    const app = await start(platform, {}, { subscriptions: { 'graphql-ws': true } });
    const url = `${app.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { token: TOKENS.USER } });
    const { value } = await client.iterate({ query: '{ mine }' }).next();
    expect(value.errors).toEqual([expect.objectContaining({ message: 'Authentication required' })]);
    await client.dispose();
    await app.close();
  });

  it.each<[rules: string, open: unknown, mine: unknown, declare: Declare]>([
    ["requireAuth('/**')", HTTP_REFUSED, HTTP_REFUSED, ({ requireAuth }) => requireAuth('/**')],
    ["requireAuth('/graphql/**')", HTTP_REFUSED, HTTP_REFUSED, ({ requireAuth }) => requireAuth('/graphql/**')],
    [
      "publicEndpoints('/graphql/**') over requireAuth('/**')",
      'anonymous',
      REFUSED,
      ({ requireAuth, publicEndpoints }) => {
        requireAuth('/**');
        publicEndpoints('/graphql/**');
      },
    ],
  ])('[3.6] URL rules decide on the HTTP request of an operation: %s', async (_, open, mine, rules) => {
    const app = await start(platform, { routes: ['GET x', 'POST y'], rules });
    expect([await ask(app, '{ open }'), await ask(app, '{ mine }')]).toEqual([open, mine]);
    expect(await ask(app, '{ mine }', TOKENS.USER)).toBe('user 1');
    await app.close();
  });
});
