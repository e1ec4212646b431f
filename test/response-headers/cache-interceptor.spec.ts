/** A global `CacheInterceptor` of @nestjs/cache-manager keeps no answer that depends on the caller. */
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  type NestInterceptor,
  Param,
  type Provider,
  SetMetadata,
} from '@nestjs/common';
import { APP_INTERCEPTOR, HttpAdapterHost, Reflector } from '@nestjs/core';
import {
  accessEndpoint,
  administration,
  CrudController,
  CrudModule,
  CurrentUser,
  type CustomOperation,
  type ListQuery,
  type Principal,
  Public,
  standardOperations,
} from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { of, tap } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bootAuth, startAuth } from '../auth/auth-app.js';
import { request } from '../harness/client.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { logIn } from '../logins/keyed-app.js';

/** As the documentation of @nestjs/cache-manager describes `CacheInterceptor`; before 3.1 a key was no function. */
type Form = 'version 12' | 'version 3.0' | 'its own trackBy';

const store = new Map<unknown, unknown>();

function cacheOf(form: Form) {
  @Injectable()
  class UrlCache implements NestInterceptor {
    constructor(
      @Inject('CACHE_MANAGER') readonly cache: typeof store,
      @Inject(Reflector) readonly reflector: Reflector,
      @Inject(HttpAdapterHost) readonly host: HttpAdapterHost,
    ) {}

    async intercept(context: ExecutionContext, next: CallHandler) {
      const key = await this.trackBy(context);
      const ttl: unknown = this.reflector.get('cache_module:cache_ttl', context.getHandler());
      if (key === undefined) return next.handle();
      try {
        const stored = this.cache.get(key);
        if (stored !== undefined) return of(stored);
        if (typeof ttl === 'function') await (ttl as (given: unknown) => unknown)(context);
        return next.handle().pipe(tap((answer) => this.cache.set(key, answer)));
      } catch {
        return next.handle();
      }
    }

    private trackBy(context: ExecutionContext): unknown {
      const key: unknown = this.reflector.get('cache_module:cache_key', context.getHandler());
      if (key !== undefined && form !== 'its own trackBy')
        return typeof key === 'function' && form === 'version 12' ? (key as (of: unknown) => unknown)(context) : key;
      const sent = context.switchToHttp().getRequest<object>();
      const { httpAdapter } = this.host;
      return httpAdapter.getRequestMethod(sent) === 'GET' ? httpAdapter.getRequestUrl(sent) : undefined;
    }
  }
  return [
    { provide: 'CACHE_MANAGER', useValue: store },
    { provide: APP_INTERCEPTOR, useClass: UrlCache },
  ];
}

@Entity('cached_note')
class CachedNote {
  @PrimaryGeneratedColumn() id!: number;
  @Column() ownerId!: number;
  @Column({ length: 20 }) text!: string;
}

const newest: CustomOperation<CachedNote> = {
  name: 'newest',
  route: { verb: 'GET', path: 'newest' },
  copyOf: 'findAll',
  description: { summary: 'List the newest notes', data: 'records' },
  run: ({ find }) => find({ sort: '-id' }),
};

class NotesController extends CrudController({
  entity: CachedNote,
  endpoint: '/notes',
  maxListSize: 50,
  owner: { field: 'ownerId', reads: true },
  enableCount: true,
  enableExists: true,
  enableExport: true,
  operations: [...standardOperations, newest],
}) {
  @Get()
  override async findAll(query: ListQuery) {
    return super.findAll(query);
  }

  @Get('mine/:id')
  mine(@Param('id') id: string) {
    return this.findById(id);
  }
}

@Controller('/own')
class OwnController {
  @Get('profile')
  profile(@CurrentUser() user: Principal) {
    return { id: user.id };
  }

  @Get('keyed')
  @SetMetadata('cache_module:cache_key', () => undefined)
  keyed(@CurrentUser() user: Principal) {
    return { id: user.id };
  }

  @Public()
  @Get('time')
  time() {
    return { time: 1 };
  }
}

const parts = (form: Form) => ({
  auth: {
    defaultAccess: 'authenticated' as const,
    sessions: true,
    plugins: [administration(), apiKeys(), accessEndpoint()],
  },
  imports: [CrudModule.forFeature(NotesController)],
  controllers: [OwnController],
  providers: cacheOf(form),
});

const CACHED = [
  ...['', '/1', '/count', '/exists/1', '/export?format=ndjson', '/newest', '/mine/1'].map((path) => `/notes${path}`),
  ...['me', 'sessions', 'users', 'keys', 'access'].map((path) => `/api/auth/${path}`),
];

beforeEach(() => store.clear());

describe.each(PLATFORMS)('on %s', (platform) => {
  it.each(['version 12', 'version 3.0', 'its own trackBy'] as const)(
    '[2.9] a global cache of %s stores no answer that depends on the caller',
    async (form) => {
      const app = await startAuth(platform, parts(form));
      try {
        const [ann, bob] = [await logIn(app, 'ADMIN'), await logIn(app)];
        const get = (path: string, { token } = bob) => request(app.url, 'GET', path, { token });
        const note = { token: ann.token, json: { text: 'of ann' } };
        expect(await request(app.url, 'POST', '/notes', note)).toMatchObject({ status: 201 });
        for (const path of CACHED) expect([path, (await get(path, ann)).status]).toEqual([path, 200]);
        expect([...store.keys()]).toEqual([]);
        expect(await get('/notes')).toMatchObject({ status: 200, json: { data: [] } });
        expect(await get('/notes/1')).toMatchObject({ status: 404 });
        expect(await get('/api/auth/me')).toMatchObject({ json: { data: { user: { email: bob.email } } } });
        const changed = { token: ann.token, json: { text: 'changed' } };
        expect(await request(app.url, 'PATCH', '/notes/1', changed)).toMatchObject({ status: 200 });
        expect(await get('/notes/1', ann)).toMatchObject({ json: { data: { text: 'changed' } } });
        // What does not depend on the caller is cached as before.
        expect(await get('/own/time')).toMatchObject({ status: 200 });
        expect([...store.keys()]).toEqual(['/own/time']);
      } finally {
        await app.close();
      }
    },
  );

  it('[2.9] an override that names its key is cached by this key', async () => {
    class Keyed extends CrudController({ entity: CachedNote, endpoint: '/notes', maxListSize: 5 }) {
      @Get('count')
      @SetMetadata('cache_module:cache_key', 'all notes')
      total() {
        return { total: 0 };
      }
    }
    const app = await startAuth(platform, {
      ...parts('version 12'),
      imports: [CrudModule.forFeature(Keyed)],
    });
    try {
      const { token } = await logIn(app);
      expect(await request(app.url, 'GET', '/notes/count', { token })).toMatchObject({ status: 200 });
      expect([...store.keys()]).toEqual(['all notes']);
    } finally {
      await app.close();
    }
  });

  it('[2.9] a warning names the routes of the application whose answers to users would be cached', async () => {
    const warningsOf = async (providers: Provider[]) => {
      const { logs, error } = await bootAuth(platform, { ...parts('version 12'), providers });
      expect(error).toBeUndefined();
      return linesOf(logs, 'warn').filter((line) => line.includes('CACHE_MANAGER'));
    };
    expect(await warningsOf(cacheOf('version 12'))).toEqual([
      expect.stringContaining(
        'if it caches by URL, users get the answers of others at GET /who, GET /own/profile. Add',
      ),
    ]);
    // The cache alone, without a global interceptor.
    expect(await warningsOf(cacheOf('version 12').slice(0, 1))).toEqual([]);
  });
});
