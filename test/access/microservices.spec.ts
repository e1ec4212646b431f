/** Microservice handlers: there is no token, so only public handlers run. */
import { createServer, type AddressInfo } from 'node:net';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { Authenticated, CurrentUser, type Principal, Public, Roles, UserAccounts } from 'declarest';
import { firstValueFrom } from 'rxjs';
import { request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS, type Platform } from '../harness/platforms.js';
import { PASSWORD } from '../harness/shop.js';
import { ruledModule, startRuled, type RuledParts } from './ruled-app.js';

const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');
const events: string[] = [];

@Controller()
class OrdersHandlers {
  @Public()
  @MessagePattern('public')
  public(@CurrentUser() user?: Principal) {
    return nameOf(user);
  }
  @Authenticated()
  @MessagePattern('authenticated')
  authenticated() {
    return 'ran';
  }
  @Roles('ADMIN')
  @MessagePattern('roles')
  roles() {
    return 'ran';
  }
  @MessagePattern('undecorated')
  undecorated() {
    return 'ran';
  }
  @EventPattern<string>('restricted event')
  restrictedEvent() {
    events.push('restricted');
  }
  @Public()
  @EventPattern<string>('public event')
  publicEvent() {
    events.push('public');
  }
  @Public()
  @Get('status')
  status() {
    return { up: true };
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const REFUSED = { status: 'error', message: 'Authentication required' };

async function startHybrid(platform: Platform, parts: RuledParts = {}) {
  const options = { host: '127.0.0.1', port: await freePort() };
  const app = await startRuled(platform, {
    controllers: [OrdersHandlers],
    ...parts,
    configure: async (nest) => {
      nest.connectMicroservice({ transport: Transport.TCP, options }, { inheritAppConfig: true });
      await nest.startAllMicroservices();
    },
  });
  const { client, send } = clientOf(options);
  const close = async () => {
    await client.close();
    await app.close();
  };
  return { ...app, client, send, close };
}

/** `send` resolves with the result of the handler, or with the error that it sent. */
function clientOf(options: { host: string; port: number }) {
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  const send = (pattern: string): Promise<unknown> =>
    firstValueFrom(client.send(pattern, { any: 'data' })).catch((error: unknown) => error);
  return { client, send };
}

@Module(ruledModule({ controllers: [OrdersHandlers] }))
class Standalone {}

describe.each(PLATFORMS)('microservice handlers on %s', (platform) => {
  it('[3.7] runs public handlers only', async () => {
    const app = await startHybrid(platform);
    for (const pattern of ['public', 'authenticated', 'roles', 'undecorated'])
      expect([pattern, await app.send(pattern)]).toEqual([pattern, pattern === 'public' ? 'anonymous' : REFUSED]);
    app.client.emit('restricted event', {});
    await firstValueFrom(app.client.emit('public event', {}), { defaultValue: undefined });
    await app.send('public');
    expect(events.splice(0)).toEqual(['public']);
    expect((await request(app.url, 'GET', '/status')).status).toBe(200);
    expect(linesOf(app.logs, 'warn')).toEqual([]);
    await app.close();
  });

  it.each<[title: string, parts: RuledParts, expected: unknown]>([
    ['no SecurityConfig', { rules: false }, 'ran'],
    ['public', { auth: { defaultAccess: 'public' } }, 'ran'],
    ['denied', { auth: { defaultAccess: 'denied' } }, REFUSED],
  ])('[3.7] the default access (%s) decides where no decorator does', async (_, parts, expected) => {
    const app = await startHybrid(platform, parts);
    expect(await app.send('undecorated')).toEqual(expected);
    expect(await app.send('public')).toBe('anonymous');
    await app.close();
  });

  it('[3.7] refuses to start where @Public() opens @Roles() of its class', async () => {
    @Roles('ADMIN')
    @Controller()
    class LeakyHandlers {
      @Public()
      @MessagePattern('leak')
      leak() {}
    }
    const error = await bootError(platform, ruledModule({ controllers: [LeakyHandlers as Type] }));
    expect(error.message).toMatch(/@Public on LeakyHandlers\.leak.*@Roles on LeakyHandlers/);
  });
});

describe('an application without HTTP', () => {
  it('[3.7] runs public handlers of a standalone microservice only', async () => {
    const options = { host: '127.0.0.1', port: await freePort() };
    const app = await NestFactory.createMicroservice(Standalone, { transport: Transport.TCP, options, logger: false });
    await app.listen();
    const { send, client } = clientOf(options);
    expect([await send('public'), await send('undecorated')]).toEqual(['anonymous', REFUSED]);
    await client.close();
    await app.close();
  });

  it('starts as an application context, with UserAccounts', async () => {
    const app = await NestFactory.createApplicationContext(Standalone, { logger: false });
    const { email } = await app.get(UserAccounts).create({ email: 'ann@example.com', password: PASSWORD });
    expect(email).toBe('ann@example.com');
    await app.close();
  });
});
