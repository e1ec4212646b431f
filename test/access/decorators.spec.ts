/** Access decorators: on classes and methods, beside each other, and where several handlers share a template. */
import {
  All,
  Controller,
  Get,
  Head,
  Module,
  Options,
  Post,
  Scope,
  type Type,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { AccessReport, Authenticated, Public, Roles, SecurityRulesGuard } from 'declarest';
import { request } from '../harness/client.js';
import { linesOf, loggedAtBoot, PLATFORMS, startApp } from '../harness/platforms.js';
import { authModule, type RuledApp, type RuledParts, startRuled, TOKENS, type Who } from './ruled-app.js';

async function ask(
  app: RuledApp,
  method: string,
  path: string,
  who: Who = 'ANYBODY',
  headers: Record<string, string> = {},
): Promise<[status: number, body: string]> {
  const token = TOKENS[who];
  const { status, text } = await request(app.url, method, path, { headers, ...(token !== undefined && { token }) });
  return [status, status < 400 ? text : ''];
}

/** The statuses for nobody, for a user and for an administrator. */
async function statuses(app: RuledApp, method: string, path: string, headers?: Record<string, string>) {
  const who = ['ANYBODY', 'USER', 'ADMIN'] as const;
  return Promise.all(who.map(async (each) => (await ask(app, method, path, each, headers))[0]));
}
const OPEN = [200, 200, 200];
const ONLY_ADMIN = [401, 403, 200];

describe.each(PLATFORMS)('decorators on %s', (platform) => {
  const start = (controllers: Type[], parts: RuledParts = {}) => startRuled(platform, { controllers, ...parts });

  it("[3.3] refuses to start where a method's @Public() would open its class's @Roles()", async () => {
    @Roles('ADMIN')
    @Controller('a')
    class Shop {
      @Public()
      @Get()
      get(): void {}
    }
    await expect(start([Shop])).rejects.toThrow(/@Public on Shop\.get must be .*restricted by @Roles on Shop/);
  });

  it("[3.3] a method's @Public() opens its class's @Authenticated(); a class's opens no method's @Roles()", async () => {
    @Authenticated()
    @Controller('a')
    class Opened {
      @Public()
      @Get()
      get(): void {}
    }
    @Public()
    @Controller('b')
    class Closed {
      @Roles('ADMIN')
      @Get()
      get(): void {}
    }
    // enforcedRoles does not reduce a decorator.
    const app = await start([Opened, Closed], { auth: { enforcedRoles: ['EDITOR'] } });
    expect(await statuses(app, 'GET', '/a')).toEqual(OPEN);
    expect(await statuses(app, 'GET', '/b')).toEqual(ONLY_ADMIN);
    await app.close();
  });

  it('[3.3] versions selected by a header keep their own decorators', async () => {
    const versionOf = (version: string | typeof VERSION_NEUTRAL, ...decorators: ClassDecorator[]): Type => {
      @Controller({ path: 'a', version })
      class Versioned {
        @Get()
        get(): string {
          return `version ${String(version)}`;
        }
      }
      for (const decorate of decorators) decorate(Versioned);
      return Versioned;
    };
    const controllers = [versionOf('1', Roles('ADMIN')), versionOf('2', Public()), versionOf(VERSION_NEUTRAL)];
    for (const order of [controllers, [controllers[1]!, controllers[0]!, controllers[2]!]]) {
      const app = await start(order, {
        configure: (nest) => void nest.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
      });
      expect(await statuses(app, 'GET', '/a', { 'x-version': '1' })).toEqual(ONLY_ADMIN);
      expect(await statuses(app, 'GET', '/a', { 'x-version': '2' })).toEqual(OPEN);
      expect(await statuses(app, 'GET', '/a')).toEqual([401, 200, 200]);
      const rows = app.app.get(AccessReport).rows.filter(({ path }) => path === '/a');
      expect(rows.map(({ access }) => access).toSorted()).toEqual(['ADMIN', 'any token', 'public']);
      await app.close();
    }
  });

  it('[3.3] an inherited method has the decorators of the class that serves the request', async () => {
    class Base {
      @Get('list')
      list(): void {}
      @All('any')
      any(): void {}
    }
    @Roles('ADMIN')
    @Controller('closed')
    class Closed extends Base {}
    @Public()
    @Controller('open')
    class Open extends Base {}
    // Both paths end in the same levels.
    @Roles('ADMIN')
    @Controller('items')
    class Prefixed extends Base {}
    @Public()
    @Controller('other/items')
    class Longer extends Base {}
    @Module({ controllers: [Prefixed] })
    class PrefixedModule {}
    const app = await start([Closed, Open, Longer], {
      imports: [PrefixedModule, RouterModule.register([{ path: 'deep', module: PrefixedModule }])],
    });
    expect(await statuses(app, 'GET', '/closed/list')).toEqual(ONLY_ADMIN);
    expect(await statuses(app, 'GET', '/open/list')).toEqual(OPEN);
    expect(await statuses(app, 'GET', '/deep/items/list')).toEqual(ONLY_ADMIN);
    expect(await statuses(app, 'GET', '/other/items/list')).toEqual(OPEN);
    for (const method of ['HEAD', 'OPTIONS', 'PURGE', 'DELETE'])
      if (platform === 'express' || method !== 'PURGE')
        expect([method, await statuses(app, method, '/closed/any')]).toEqual([method, ONLY_ADMIN]);
    await app.close();
  });

  it('[3.3] HEAD, OPTIONS and a request-scoped controller are governed by their own decorators', async () => {
    @Controller('verbs')
    class Verbs {
      @Head('h')
      @Roles('ADMIN')
      head(): void {}
      @Get('g')
      @Roles('ADMIN')
      get(): void {}
      @Options('g')
      @Public()
      options(): void {}
    }
    @Roles('ADMIN')
    @Controller({ path: 'scoped', scope: Scope.REQUEST })
    class Scoped {
      @Get()
      get(): void {}
    }
    const app = await start([Verbs, Scoped]);
    expect(await statuses(app, 'HEAD', '/verbs/h')).toEqual(ONLY_ADMIN);
    expect(await statuses(app, 'HEAD', '/verbs/g')).toEqual(ONLY_ADMIN);
    expect(await statuses(app, 'OPTIONS', '/verbs/g')).toEqual(OPEN);
    expect(await statuses(app, 'GET', '/scoped')).toEqual(ONLY_ADMIN);
    await app.close();
  });

  it('[3.3] a wrapped method that copied the metadata of the method keeps the decorators of its class', async () => {
    @Roles('ADMIN')
    @Controller('traced')
    class Traced {
      @Get()
      get(): void {}
    }
    // The first application marks the method. A tracing library then wraps it.
    await (await start([Traced])).close();
    const original = Traced.prototype.get;
    const wrapper = function (this: Traced): void {
      return original.call(this);
    };
    for (const key of Reflect.getMetadataKeys(original))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
    Traced.prototype.get = wrapper;
    const app = await start([Traced]);
    expect(await statuses(app, 'GET', '/traced')).toEqual(ONLY_ADMIN);
    await app.close();
  });

  it('[3.3] a handler that a tracing library wraps when Nest creates the route keeps its decorators', async () => {
    @Roles('ADMIN')
    @Controller({ path: 'a', version: '1' })
    class Closed {
      @Get()
      get(): void {}
    }
    @Public()
    @Controller({ path: 'a', version: '2' })
    class Open {
      @Get()
      get(): void {}
    }
    const app = await start([Closed, Open], {
      configure: (nest) => void nest.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    });
    const decide = async (controller: Type): Promise<boolean> => {
      const original = (controller.prototype as Closed).get;
      const wrapper = (): void => original();
      for (const key of Reflect.getMetadataKeys(original))
        Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
      const asked = { method: 'GET', url: '/a', headers: {}, params: {}, route: { path: '/a' } };
      return app.app.get(SecurityRulesGuard, { strict: false }).canActivate({
        getType: () => 'http',
        getClass: () => controller,
        getHandler: () => wrapper,
        switchToHttp: () => ({ getRequest: () => asked, getResponse: () => ({ header: () => undefined }) }),
      } as never);
    };
    expect(await decide(Open)).toBe(true);
    await expect(decide(Closed)).rejects.toThrow('Authentication required');
    await app.close();
  });

  it('[3.5] two applications in one process keep their own rules', async () => {
    @Controller('a')
    class Shop {
      @Get()
      get(): void {}
    }
    const closed = await start([Shop], { rules: ({ requireRole }) => requireRole('ADMIN', '/a') });
    const open = await start([Shop], { rules: ({ publicEndpoints }) => publicEndpoints('/a') });
    expect(await statuses(closed, 'GET', '/a')).toEqual(ONLY_ADMIN);
    expect(await statuses(open, 'GET', '/a')).toEqual(OPEN);
    await open.close();
    await closed.close();
  });
});

describe('handlers of Express that share a template', () => {
  it('[3.3] the decorators of the handler that serves the request decide', async () => {
    @Controller('a')
    class Closed {
      @Roles('ADMIN')
      @Get()
      get(): void {}
    }
    @Controller('a')
    class Open {
      @Public()
      @All()
      all(): void {}
    }
    const app = await startRuled('express', { controllers: [Closed, Open] });
    expect(await statuses(app, 'GET', '/a')).toEqual(ONLY_ADMIN);
    expect(await statuses(app, 'PUT', '/a')).toEqual(OPEN);
    await app.close();
  });

  it('[3.3] controllers of several hosts keep their own decorators', async () => {
    @Roles('ADMIN')
    @Controller({ path: 'a', host: 'admin.example' })
    class OfAdmin {
      @Get()
      get(): void {}
    }
    @Public()
    @Controller('a')
    class OfOthers {
      @Get()
      get(): void {}
    }
    const app = await startRuled('express', { controllers: [OfAdmin, OfOthers] });
    expect(await statuses(app, 'GET', '/a', { host: 'admin.example' })).toEqual(ONLY_ADMIN);
    expect(await statuses(app, 'GET', '/a')).toEqual(OPEN);
    await app.close();
  });
});

it('[3.2] @Public() opens no role rule, nor one that enforcedRoles reduces', async () => {
  @Public()
  @Controller('a')
  class Shop {
    @Post()
    create(): void {}
  }
  for (const role of ['ADMIN', 'EDITOR'])
    await expect(
      startRuled('express', {
        controllers: [Shop],
        rules: ({ requireRole }) => requireRole(role, '/a'),
        auth: { enforcedRoles: ['ADMIN'] },
      }),
    ).rejects.toThrow(/@Public on Shop must be without a broader rule that requires a role/);
});

describe('@Public() beside a restriction of the same class or method', () => {
  it.each([
    ['@Roles() @Public()', [Roles('ADMIN'), Public()]],
    ['@Public() @Roles()', [Public(), Roles('ADMIN')]],
    ['@Authenticated() @Public()', [Authenticated(), Public()]],
  ])('[3.3] %s throws', (_, decorators) => {
    const both = (...where: [object, string?, PropertyDescriptor?]): void =>
      decorators.forEach((decorate) => (decorate as (...to: typeof where) => void)(...where));
    class Both {
      get(): void {}
    }
    expect(() => both(Both)).toThrow(/on Both must be the only kind of access there/);
    expect(() => both(Both.prototype, 'get', { value: () => undefined })).toThrow(/on Both\.get must be the only kind/);
  });

  it('[3.3] several restrictions add up', () => {
    class Twice {
      get(): void {}
    }
    expect(() => [Roles('A'), Authenticated(), Roles('B')].forEach((decorate) => decorate(Twice))).not.toThrow();
  });
});

it.each(PLATFORMS)(
  '[3.2] a decorator without AuthModule, which applies it, is a startup warning on %s',
  async (platform) => {
    @Controller('a')
    class Restricted {
      @Roles('ADMIN')
      @Get()
      get(): string {
        return 'a';
      }
    }
    const warning = expect.stringMatching(
      /Access decorators such as @Roles\(\) do nothing without AuthModule or AccessModule\./,
    );
    const without = await startApp(platform, { controllers: [Restricted] });
    expect(linesOf(without.logs, 'warn')).toEqual([warning]);
    await without.close();
    const { logs } = await loggedAtBoot(platform, { imports: [authModule()], controllers: [Restricted] });
    expect(linesOf(logs, 'warn')).not.toContainEqual(warning);
  },
);
