import {
  All,
  Controller,
  ForbiddenException,
  Get,
  Injectable,
  Param,
  Post,
  Req,
  Scope,
  UseGuards,
  Version,
  VersioningType,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { SecurityConfig, SecurityRulesGuard } from 'declarest';
import { request } from '../harness/client.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { type RuledParts, startRuled, TOKENS, wildcard } from './ruled-app.js';
import { send } from './spelling-app.js';

/** An application on whose routes a URL arrives rewritten. */
const rewriting = (platform: Platform, rewrite: (url: string) => string): RuledParts => ({
  adapter:
    platform === 'express'
      ? new ExpressAdapter()
      : new FastifyAdapter({
          forceCloseConnections: true,
          rewriteUrl: ({ url = '' }: { url?: string | undefined }) => rewrite(url),
        }),
  configure: (nest) => {
    if (platform === 'express')
      nest.use((req: { url: string }, _response: unknown, next: () => void) => {
        req.url = rewrite(req.url);
        next();
      });
  },
});

describe.each(PLATFORMS)('kinds of routes on %s', (platform) => {
  /** `GET /a as USER` → status, for each line. */
  async function statuses(parts: RuledParts, expected: Record<string, number>, headers: Record<string, string> = {}) {
    const app = await startRuled(platform, parts);
    const got: Record<string, number> = {};
    for (const line of Object.keys(expected)) {
      const [, method = '', path = '', who] = /^(\S+) (\S+)(?: as (\w+))?$/.exec(line) ?? [];
      const token = who === undefined ? undefined : TOKENS[who as keyof typeof TOKENS];
      const answer = await request(app.url, method, path, { headers, ...(token !== undefined && { token }) });
      got[line] = answer.status;
    }
    await app.close();
    expect(got).toEqual(expected);
    return app;
  }

  it('[3.5] an @All handler has rules of the method and rules of every method', async () => {
    await statuses(
      {
        routes: ['ALL any', 'ALL other'],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('GET /any');
          requireRole('ADMIN', 'DELETE /any');
        },
      },
      {
        'GET /any': 200,
        'HEAD /any': 200,
        'POST /any': 401,
        'OPTIONS /any': 401,
        'PROPFIND /any': 401,
        'DELETE /any': 401,
        'DELETE /any as USER': 403,
        'DELETE /any as ADMIN': 200,
        'PUT /any as USER': 200,
        'PATCH /other': 401,
        'HEAD /other': 401,
      },
    );
  });

  it('[3.5] a wildcard route is decided by its path where patterns match a part', async () => {
    await statuses(
      {
        routes: [`GET ${wildcard(platform, 'files')}`],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/files/**', '/files/private/notice');
          requireRole('ADMIN', '/files/private/**', '/files/*');
        },
      },
      {
        'GET /files/a': 401,
        'GET /files/a as ADMIN': 200,
        'GET /files/a/b': 200,
        'GET /files/private': 401,
        'GET /files/private/x/y/z': 401,
        'GET /files/private/x as USER': 403,
        'GET /files/PRIVATE/x': 401,
        'GET /files/private/notice': 200,
        'GET /files/private/notice/x': 401,
        'GET /files/privates/x': 200,
      },
    );
  });

  it('[3.5] a permission for a part of a root wildcard applies to the clean path only', async () => {
    const app = await startRuled(platform, {
      routes: [platform === 'express' ? 'GET *path' : 'GET *'],
      rules: ({ publicEndpoints }) => publicEndpoints('/readme', '/'),
    });
    expect((await send(app, '/readme')).answer.status).toBe(200);
    expect((await send(app, '/secret')).answer.status).toBe(401);
    for (const target of [
      'javascript://x/readme',
      'javascript:///',
      'http://a?/secret',
      '//readme',
      '/x/../readme',
      '/readme/',
      '/readme;x',

      'http://h;/secret',
      "http://h'/secret",
      'http://[x/secret',
      'http:////secret',
      'x://y?z/secret',
      '/%2freadme',
    ]) {
      const { answer, entries } = await send(app, target);
      for (const { params } of entries)
        expect([target, Object.values(params).flat().join('/')]).toEqual([target, 'readme']);
      expect(answer.status).toBeLessThan(500);
    }
    await app.close();
  });

  it('[3.5] optional groups: each of the paths of a route has its own decision', async () => {
    await statuses(
      {
        routes: [platform === 'express' ? 'GET page{/:nr}' : 'GET page/:nr?'],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/page');
          requireRole('ADMIN', '/page/secret');
        },
      },
      {
        'GET /page': 200,
        'GET /page/1': 401,
        'GET /page/1 as USER': 200,
        'GET /page/secret as USER': 403,
        'GET /page/secret as ADMIN': 200,
      },
    );
  });

  it('[3.5] several parameters in one level, and parameters in front', async () => {
    await statuses(
      {
        routes: ['GET trips/:from-:to', 'GET :tenant/admin'],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/**');
          requireRole('ADMIN', '/trips/vie-zrh', '/acme/**');
        },
      },
      {
        'GET /trips/vie-lhr': 200,
        'GET /trips/vie-zrh': 401,
        'GET /trips/VIE-zrh': 401,
        'GET /trips/vi%65-zrh': 401,
        'GET /other/admin': 200,
        'GET /acme/admin': 401,
        'GET /Acme/admin': 401,
        'GET /%61cme/admin as USER': 403,
      },
    );
  });

  it('[3.5] a restriction in capitals applies to every case, for a whole route and a part', async () => {
    await statuses(
      {
        routes: ['GET users/:id', 'GET admin'],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/**');
          requireRole('ADMIN', '/Users/ME', '/ADMIN');
        },
      },
      { 'GET /users/ME': 401, 'GET /users/me': 401, 'GET /users/7': 200, 'GET /admin': 401 },
    );
  });

  it('[3.5] a literal route and a parameter route each have their own rules', async () => {
    await statuses(
      {
        routes: ['GET users/me', 'GET users/:id'],
        rules: ({ publicEndpoints, requireAuth }) => {
          publicEndpoints('/users/*');
          requireAuth('/users/me');
        },
      },
      { 'GET /users/me': 401, 'GET /users/7': 200, 'GET /users/%6de': 401, 'GET /users/me as USER': 200 },
    );
  });

  it('[3.5] a rule for a literal path applies also where the parameter route comes first', async () => {
    await statuses(
      {
        // On Express the first one serves /users/me too; on Fastify the second.
        routes: ['GET users/:id', 'GET users/me'],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/users/*');
          requireRole('ADMIN', '/users/me');
        },
      },
      { 'GET /users/me': 401, 'GET /users/me as USER': 403, 'GET /users/me as ADMIN': 200, 'GET /users/7': 200 },
    );
  });

  it('[3.5] arrays of paths are separate routes', async () => {
    @Controller(['cats', 'dogs'])
    class PetsController {
      @Get(['', 'all'])
      all() {
        return [];
      }
    }
    await statuses(
      {
        controllers: [PetsController],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/cats/**');
          requireRole('ADMIN', '/dogs/all');
        },
      },
      {
        'GET /cats': 200,
        'GET /cats/all': 200,
        'GET /dogs': 401,
        'GET /dogs as USER': 200,
        'GET /dogs/all as USER': 403,
        'GET /dogs/all as ADMIN': 200,
      },
    );
  });

  it.each(['HEADER', 'MEDIA_TYPE', 'CUSTOM'] as const)(
    '[3.5] versions by %s share one path and its rules',
    async (kind) => {
      @Controller('cats')
      class CatsController {
        @Get()
        @Version('1')
        one() {
          return 1;
        }
        @Get()
        @Version('2')
        two() {
          return 2;
        }
        @Post()
        @Version('2')
        make() {
          return 2;
        }
      }
      const options = {
        HEADER: { type: VersioningType.HEADER, header: 'X-Version' },
        MEDIA_TYPE: { type: VersioningType.MEDIA_TYPE, key: 'v=' },
        CUSTOM: {
          type: VersioningType.CUSTOM,
          extractor: (req: unknown) => (req as { headers: Record<string, string> }).headers['x-version'] ?? '',
        },
      } as const;
      for (const version of ['1', '2'])
        await statuses(
          {
            controllers: [CatsController],
            configure: (app) => void app.enableVersioning(options[kind]),
            rules: ({ publicEndpoints, requireRole }) => {
              publicEndpoints('/cats');
              requireRole('ADMIN', 'GET /cats');
            },
          },
          { 'GET /cats': 401, 'GET /cats as USER': 403, 'GET /cats as ADMIN': 200 },
          { 'x-version': version, accept: `application/json;v=${version}` },
        );
    },
  );

  it('[3.5] URI versions are separate paths', async () => {
    @Controller('cats')
    class CatsController {
      @Get()
      @Version(['1', '2'])
      all() {
        return [];
      }
      @Get('latest')
      latest() {
        return [];
      }
    }
    await statuses(
      {
        controllers: [CatsController],
        configure: (app) => void app.enableVersioning({ type: VersioningType.URI, defaultVersion: '3' }),
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/v1/cats');
          requireRole('ADMIN', '/v2/**', '/v3/cats/*');
        },
      },
      {
        'GET /v1/cats': 200,
        'GET /v2/cats as USER': 403,
        'GET /v2/cats as ADMIN': 200,
        'GET /v3/cats/latest': 401,
        'GET /v3/cats/latest as USER': 403,
        'GET /cats/latest': 404,
        'GET /v3/cats': 404,
      },
    );
  });

  it('[3.5] rules apply to a request-scoped controller', async () => {
    const entered: string[] = [];
    @Controller({ path: 'scoped', scope: Scope.REQUEST })
    class ScopedController {
      @Get(':id')
      one(@Param('id') id: string, @Req() _request: unknown) {
        entered.push(id);
        return id;
      }
    }
    await statuses(
      {
        controllers: [ScopedController],
        rules: ({ publicEndpoints, requireRole }) => {
          publicEndpoints('/scoped/open');
          requireRole('ADMIN', '/scoped/secret');
        },
      },
      {
        'GET /scoped/open': 200,
        'GET /scoped/x': 401,
        'GET /scoped/x as USER': 200,
        'GET /scoped/secret as USER': 403,
      },
    );
    expect(entered).toEqual(['open', 'x']);
  });

  it("[3.5] the application's own guard opens nothing", async () => {
    @Injectable()
    class YesGuard {
      canActivate() {
        return true;
      }
    }
    @Controller('own')
    @UseGuards(YesGuard)
    class OwnController {
      @All()
      all() {
        return 1;
      }
    }
    await statuses({ controllers: [OwnController] }, { 'GET /own': 401, 'GET /own as USER': 200 });
  });

  it('[3.5] rules that are declared after the start open nothing', async () => {
    const configs: { open: () => void }[] = [];
    @Injectable()
    class LateSecurity extends SecurityConfig {
      override configure(): void {
        this.requireAuth('/a');
        configs.push({ open: () => this.publicEndpoints('/a', '/**') });
      }
    }
    const app = await startRuled(platform, { routes: ['GET a'], rules: false, providers: [LateSecurity] });
    configs[0]!.open();
    expect((await request(app.url, 'GET', '/a')).status).toBe(401);
    await app.close();
  });

  it('[3.5] a rewritten URL is decided by the path that is served', async () => {
    const rewrite = (url: string): string => url.replace('/alias', '/open/users/me');
    const app = await startRuled(platform, {
      routes: ['GET open/users/:id'],
      ...rewriting(platform, rewrite),
      rules: ({ publicEndpoints, requireAuth }) => {
        publicEndpoints('/open/**');
        requireAuth('/open/users/me');
      },
    });
    expect((await send(app, '/alias')).answer.status).toBe(401);
    expect((await send(app, '/open/users/7')).answer.status).toBe(200);
    await app.close();
  });

  it('[3.5] a permission does not apply to a path that is rewritten', async () => {
    const rewrite = (url: string): string => url.replace('/files/readme', '/files/secret');
    const app = await startRuled(platform, {
      routes: ['GET files/:name'],
      ...rewriting(platform, rewrite),
      rules: ({ publicEndpoints }) => publicEndpoints('/files/readme'),
    });
    expect((await send(app, '/files/readme')).entries).toEqual([]);
    await app.close();
  });
});

describe.each(PLATFORMS)('a route that did not exist at startup on %s', (platform) => {
  it('[3.5] a route that did not exist at startup is denied', async () => {
    const app = await startRuled(platform, {
      routes: ['GET a'],
      auth: { defaultAccess: 'public' },
      rules: ({ publicEndpoints }) => publicEndpoints('/**'),
    });
    const guard = app.app.get(SecurityRulesGuard, { strict: false });
    const headers = { authorization: `Bearer ${TOKENS.ADMIN}` };
    const decide = async (template: string | undefined): Promise<boolean> => {
      const asked = {
        method: 'GET',
        url: '/a',
        headers,
        params: {},
        route: { path: template },
        routeOptions: { url: template },
      };
      return guard.canActivate({
        getType: () => 'http',
        getClass: () => Object,
        getHandler: () => decide,
        switchToHttp: () => ({ getRequest: () => asked, getResponse: () => ({ header: () => undefined }) }),
      } as never);
    };
    expect(await decide('/a')).toBe(true);
    await expect(decide('/added-later')).rejects.toThrow(ForbiddenException);
    await expect(decide(undefined)).rejects.toThrow(ForbiddenException);
    await app.close();
  });
});
