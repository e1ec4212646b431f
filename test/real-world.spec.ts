import {
  type ArgumentsHost,
  Body,
  Catch,
  ClassSerializerInterceptor,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Post,
  Query,
  ValidationPipe,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE, Reflector, RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Exclude, Type as TypeOf } from 'class-transformer';
import { IsInt, IsString, Min, MinLength } from 'class-validator';
import {
  AuthModule,
  AuthUser,
  cors,
  CrudController,
  CrudModule,
  OverrideNote,
  CurrentUser,
  type ListQuery,
  type Principal,
  routesOf,
  SecurityConfig,
  UserAccounts,
} from 'declarest';
import { Column, CreateDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { type Answer, request, type RequestOptions } from './harness/client.js';
import { createDatabase } from './harness/databases.js';
import { linesOf, type Platform, PLATFORMS, type RunningApp, startApp } from './harness/platforms.js';
import { TEST_SECRET } from './harness/tokens.js';
import { refusal } from './harness/refusal.js';

const ORIGIN = 'https://shop.example';
const PASSWORD = 'correct horse battery';

@Entity('real_users')
class User extends AuthUser {
  @Column({ nullable: true, type: 'varchar' })
  @Exclude()
  note!: string | null;
}

@Entity('real_shelves')
class Shelf {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  name!: string;
}

@Entity('real_articles')
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 80 })
  @MinLength(2)
  title!: string;

  @Column('double precision', { default: 0 })
  @Min(0)
  price!: number;

  /** Stored and written, but the application's serializer keeps it back. */
  @Column({ type: 'varchar', nullable: true })
  @Exclude({ toPlainOnly: true })
  supplier!: string | null;

  @Column('simple-json', { nullable: true })
  tags!: unknown;

  @CreateDateColumn()
  createdAt!: Date;

  @ManyToOne(() => Shelf, { nullable: true })
  shelf!: Shelf | null;
}

class NewNote {
  @IsString()
  @MinLength(3)
  text!: string;
}
class NotesQuery {
  @IsInt()
  @TypeOf(() => Number)
  limit!: number;
}
class Secretive {
  shown = 'yes';
  @Exclude()
  hidden = 'no';
}

@Controller('notes')
class NotesController {
  @Get()
  list(@Query() query: NotesQuery) {
    return { limit: query.limit, type: typeof query.limit, isQuery: query instanceof NotesQuery };
  }
  @Post()
  add(@Body() note: NewNote, @CurrentUser() user: Principal) {
    return { text: note.text, isNote: note instanceof NewNote, by: user.email };
  }
  @Get('teapot')
  teapot() {
    throw new HttpException('short and stout', 418);
  }
  @Get('crash')
  crash() {
    throw new Error('inside');
  }
  @Get('secretive')
  secretive() {
    return new Secretive();
  }
}

@Controller('health')
class HealthController {
  @Get()
  @Version(VERSION_NEUTRAL)
  health() {
    return { up: true };
  }
}

@Controller('stats')
class StatsController {
  @Get()
  stats(@CurrentUser() user: Principal) {
    return { seenBy: user.roles };
  }
}
@Module({ controllers: [StatsController] })
class BackstageModule {}

/** What the application makes of every failure of its own. */
@Catch()
class OwnFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : statusOf(exception);
    const answer = { own: true, status };
    const response = host.switchToHttp().getResponse();
    if (typeof response.json === 'function') response.status(status).json(answer);
    else response.status(status).send(answer);
  }
}
/** What Fastify and Express throw at a body carries its status. */
const statusOf = (exception: unknown): number =>
  (exception as { statusCode?: number; status?: number }).statusCode ??
  (exception as { status?: number }).status ??
  500;

class ArticlesController extends CrudController({
  entity: Article,
  endpoint: '/articles',
  enableSearch: true,
  enableExists: true,
  enablePagination: true,
  searchableFields: ['title'],
}) {
  @Get()
  @OverrideNote('Only what costs something')
  override async findAll(query: ListQuery) {
    const page = await super.findAll(query);
    return { ...page, data: page.data.filter(({ price }) => price > 0) };
  }

  @Get('search')
  override search(query: ListQuery) {
    return super.search(query);
  }
}

interface Variant {
  name: string;
  filter: 'APP_FILTER' | 'useGlobalFilters';
  /** Where the pipe and the interceptor stand. */
  enhancers: 'providers' | 'main.ts';
  defaultVersion?: string;
  versioning: boolean;
  routing?: true;
  /** In front of every path but the excluded ones. */
  base: string;
}
const VARIANTS: Variant[] = [
  {
    name: 'filter as APP_FILTER, prefix',
    filter: 'APP_FILTER',
    enhancers: 'providers',
    versioning: false,
    base: '/shop',
  },
  {
    name: 'filter by useGlobalFilters, prefix, URI versions without a default',
    filter: 'useGlobalFilters',
    enhancers: 'main.ts',
    versioning: true,
    base: '/shop',
  },
  {
    name: 'filter as APP_FILTER, prefix, URI versions with a default',
    filter: 'APP_FILTER',
    enhancers: 'main.ts',
    versioning: true,
    defaultVersion: '1',
    base: '/shop/v1',
  },
  {
    name: 'filter by useGlobalFilters, prefix, conflict policy and resolution by specificity',
    filter: 'useGlobalFilters',
    enhancers: 'providers',
    versioning: false,
    routing: true,
    base: '/shop',
  },
];

const pipe = () => new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true });

async function startRealWorld(platform: Platform, variant: Variant): Promise<RunningApp> {
  const { base } = variant;
  const database = await createDatabase();

  @Injectable()
  class RealSecurity extends SecurityConfig {
    override configure(): void {
      this.publicEndpoints(`GET ${base}/articles/**`, '/health', `GET ${base}/notes/**`);
      this.requireAuth(`${base}/**`);
      this.requireRole('ADMIN', `${base}/backstage/**`, `DELETE ${base}/articles/*`);
    }
  }

  @Module({
    imports: [
      TypeOrmModule.forRoot(database.options),
      AuthModule.forRoot({ userClass: User, jwtSecret: TEST_SECRET, bcryptRounds: 4, authBasePath: '/auth' }),
      CrudModule.forFeature(ArticlesController, { entity: Shelf, endpoint: '/shelves', enablePagination: true }),
      BackstageModule,
      RouterModule.register([{ path: 'backstage', module: BackstageModule }]),
    ],
    controllers: [NotesController, HealthController],
    providers: [
      RealSecurity,
      ...(variant.filter === 'APP_FILTER' ? [{ provide: APP_FILTER, useClass: OwnFilter }] : []),
      ...(variant.enhancers === 'providers'
        ? [
            { provide: APP_PIPE, useFactory: pipe },
            { provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor },
          ]
        : []),
    ],
  })
  class RealModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(ArticlesController), '/auth/*path');
    }
  }

  return startApp(platform, RealModule, {
    onClose: database.drop,
    ...(variant.routing && {
      nestOptions: {
        routeConflictPolicy: { duplicate: 'error', shadow: 'warn' },
        routeResolutionStrategy: 'specificity',
      },
    }),
    configure: (app) => {
      app.setGlobalPrefix('shop', { exclude: ['health'] });
      if (variant.versioning)
        app.enableVersioning({
          type: VersioningType.URI,
          ...(variant.defaultVersion !== undefined && { defaultVersion: variant.defaultVersion }),
        });
      if (variant.filter === 'useGlobalFilters') app.useGlobalFilters(new OwnFilter());
      if (variant.enhancers === 'main.ts') {
        app.useGlobalPipes(pipe());
        app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
      }
    },
  });
}

describe.each(PLATFORMS)('a real application on %s', (platform) => {
  describe.each(VARIANTS)('$name', (variant) => {
    const { base } = variant;
    let app: RunningApp;
    let user: string;
    let admin: string;

    const ask = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
      request(app.url, method, `${base}${path}`, options);
    const login = async (email: string): Promise<string> => {
      const answer = await ask('POST', '/auth/login', { json: { email, password: PASSWORD } });
      return answer.json.data.token as string;
    };
    const newArticle = async (fields: object = {}): Promise<Answer> =>
      ask('POST', '/articles', { token: user, json: { title: 'Lamp', price: 9.5, ...fields } });

    beforeAll(async () => {
      app = await startRealWorld(platform, variant);
      const accounts = app.app.get(UserAccounts, { strict: false });
      await accounts.create({ email: 'ann@example.com', password: PASSWORD });
      await accounts.create({ email: 'boss@example.com', password: PASSWORD, role: 'ADMIN' });
      [user, admin] = [await login('ann@example.com'), await login('boss@example.com')];
    });
    afterAll(() => app.close());

    it('[6] boots without a warning: every rule and every CORS binding finds its route', () => {
      // Nest's own policy warns of every fixed path beside a parameter, the application's own ones too.
      const warnings = linesOf(app.logs, 'warn').filter((line) => !line.startsWith('warn [NestApplication] Route GET'));
      expect(warnings).toEqual([]);
      expect(linesOf(app.logs, 'error')).toEqual([]);
    });

    describe('users', () => {
      it('[6] [2.3] register answers as the contract says', async () => {
        const answer = await ask('POST', '/auth/register', {
          json: { email: ' New@Example.com', password: PASSWORD, firstName: 'Nina' },
        });
        expect(answer.status).toBe(201);
        expect(answer.json).toEqual({
          success: true,
          message: expect.any(String),
          data: {
            user: {
              id: expect.any(Number),
              email: 'new@example.com',
              username: null,
              firstName: 'Nina',
              lastName: null,
              role: 'USER',
              active: true,
            },
            token: expect.any(String),
          },
        });
        expect(answer.headers['cache-control']).toBe('no-store');
      });

      it('[6] [2.3] login and me answer as the contract says', async () => {
        const answer = await ask('POST', '/auth/login', { json: { email: 'ann@example.com', password: PASSWORD } });
        expect([answer.status, answer.json.data.user]).toEqual([
          200,
          { id: expect.any(Number), email: 'ann@example.com', username: null, role: 'USER' },
        ]);
        const me = await ask('GET', '/auth/me', { token: answer.json.data.token });
        expect([me.status, me.json.data.user.email]).toEqual([200, 'ann@example.com']);
        expect(me.text).not.toMatch(/password|\$2/);
      });

      it.each<[what: string, method: string, path: string, options: RequestOptions, status: number, body: object]>([
        [
          'a wrong password',
          'POST',
          '/auth/login',
          { json: { email: 'ann@example.com', password: 'wrong password' } },
          401,
          { success: false, message: 'Invalid credentials' },
        ],
        [
          'a taken e-mail',
          'POST',
          '/auth/register',
          { json: { email: 'ann@example.com', password: PASSWORD } },
          400,
          { success: false, message: 'User with email ann@example.com already exists' },
        ],
        [
          'an unknown field',
          'POST',
          '/auth/register',
          { json: { email: 'x@example.com', password: PASSWORD, role: 'ADMIN' } },
          400,
          { success: false, message: expect.stringContaining('role') },
        ],
        [
          'an empty body',
          'POST',
          '/auth/register',
          { json: {} },
          400,
          { success: false, message: expect.stringContaining('password') },
        ],
        [
          'broken JSON',
          'POST',
          '/auth/login',
          { body: '{', headers: { 'content-type': 'application/json' } },
          400,
          { success: false, message: expect.any(String) },
        ],
        [
          'plain text',
          'POST',
          '/auth/login',
          { body: 'a', headers: { 'content-type': 'text/plain' } },
          415,
          { success: false, message: expect.any(String) },
        ],
        ['no token', 'GET', '/auth/me', {}, 401, refusal('Authentication required')],
        ['a bad token', 'GET', '/auth/me', { token: 'abc' }, 401, refusal('Authentication required')],
      ])(
        '[6] [2.3] %s is answered in the package’s shape, whatever filter the application has',
        async (_, method, path, options, status, body) => {
          const answer = await ask(method, path, options);
          expect([answer.status, answer.json]).toEqual([status, body]);
        },
      );
    });

    describe('generated endpoints', () => {
      it('[6] [4.1] create, read, replace, search, exists and delete work', async () => {
        const created = await newArticle({ title: 'Desk lamp', tags: { colours: ['red', { deep: null }] } });
        expect(created.status).toBe(201);
        const { id } = created.json.data;
        expect(created.headers['location']).toBe(`${base}/articles/${id}`);
        const read = await ask('GET', `/articles/${id}`);
        expect(read.json).toEqual({
          success: true,
          message: expect.any(String),
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/),
          data: created.json.data,
        });
        const { data } = read.json;
        const replaced = await ask('PUT', `/articles/${id}`, { token: user, json: { ...data, title: 'Floor lamp' } });
        expect([replaced.status, replaced.json.data.title, replaced.json.data.createdAt]).toEqual([
          200,
          'Floor lamp',
          data.createdAt,
        ]);
        const found = await ask('GET', '/articles/search?title=floor');
        expect(found.json.data.map((each: Article) => each.id)).toContain(id);
        expect((await ask('GET', `/articles/exists/${id}`)).json.data).toEqual({ exists: true });
        expect((await ask('DELETE', `/articles/${id}`, { token: admin })).json.data).toBeNull();
        expect((await ask('GET', `/articles/${id}`)).status).toBe(404);
      });

      it('[6] [4.7] an overridden operation runs, pages are read by the package, not by the pipe', async () => {
        await newArticle({ price: 0, title: 'Gift' });
        await newArticle({ price: 3, title: 'Pen' });
        const page = await ask('GET', '/articles?page=1&size=100');
        expect(page.status).toBe(200);
        expect(page.json.metadata.pagination).toMatchObject({ page: 1, size: 100 });
        expect(page.json.data.every((each: Article) => each.price > 0)).toBe(true);
        expect((await ask('GET', '/articles?page=0')).status).toBe(400);
        expect((await ask('GET', '/articles?nope=1')).json).toMatchObject({ success: false });
      });

      it('[6] @Exclude on a column of the entity is honoured in every answer, and the column is still written', async () => {
        const created = await newArticle({ supplier: 'Canary Inc.' });
        const { id } = created.json.data;
        const answers = [
          created,
          await ask('GET', `/articles/${id}`),
          await ask('GET', '/articles?size=100'),
          await ask('GET', '/articles/search?title=lamp'),
          await ask('PUT', `/articles/${id}`, {
            token: user,
            json: { title: 'Lamp', price: 1, supplier: 'Canary Inc.' },
          }),
        ];
        for (const answer of answers) {
          expect(answer.status).toBeLessThan(300);
          expect(answer.text).not.toMatch(/supplier|Canary/);
        }
      });

      it('[6] plain data comes through the serializer intact: dates, numbers, null, nested JSON, relations', async () => {
        const tags = { list: [1, 2.5, 'x', null, true], nested: { 'odd key': { createdAt: 'text' } }, empty: {} };
        const shelf = await ask('POST', '/shelves', { token: user, json: { name: 'Top' } });
        const { json } = await newArticle({ tags, price: 0.1, shelfId: shelf.json.data.id });
        expect(json.data).toEqual({
          id: expect.any(Number),
          title: 'Lamp',
          price: 0.1,
          tags,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          shelfId: shelf.json.data.id,
        });
        expect((await ask('GET', '/notes/secretive')).json).toEqual({ shown: 'yes' });
      });

      it.each<[what: string, method: string, path: string, options: RequestOptions, status: number]>([
        ['a missing record', 'GET', '/articles/999999', {}, 404],
        ['an id that is none', 'GET', '/articles/abc', {}, 400],
        ['an unknown parameter', 'GET', '/articles?x=1', {}, 400],
        ['unknown and wrong fields', 'POST', '/articles', { json: { titel: 'x', price: 'dear' } }, 400],
        ['a field that class-validator refuses', 'POST', '/articles', { json: { title: 'x', price: -1 } }, 400],
        ['broken JSON', 'POST', '/articles', { body: '{"a', headers: { 'content-type': 'application/json' } }, 400],
        ['JSON that is no object', 'POST', '/articles', { json: ['x'] }, 400],
        ['no JSON', 'POST', '/articles', { body: '<a/>', headers: { 'content-type': 'application/xml' } }, 415],
        ['too much', 'POST', '/articles', { json: { title: 'x'.repeat(3_000_000) } }, 413],
      ])(
        '[6] [4.3] %s is answered in the package’s shape, whatever filter the application has',
        async (_, method, path, options, status) => {
          const answer = await ask(method, path, { token: user, ...options });
          expect(answer.status).toBe(status);
          expect(answer.json).toMatchObject({
            success: false,
            message: expect.any(String),
            timestamp: expect.any(String),
          });
          expect(answer.json).not.toHaveProperty('own');
        },
      );

      it('[6] [4.3] wrong fields are named by the package, every one, and not by the pipe', async () => {
        const { json } = await newArticle({ title: 'x', price: -1, colour: 'red' });
        expect(json.errors.map((each: { field: string }) => each.field).toSorted()).toEqual([
          'colour',
          'price',
          'title',
        ]);
      });
    });

    describe('rules', () => {
      it.each<[method: string, path: string, nobody: number, asUser: number, asAdmin: number]>([
        ['GET', '/articles', 200, 200, 200],
        ['DELETE', '/articles/999999', 401, 403, 404],
        ['GET', '/shelves', 401, 200, 200],
        ['GET', '/backstage/stats', 401, 403, 200],
        ['GET', '/notes?limit=5', 200, 200, 200],
        ['GET', '/nowhere', 404, 404, 404],
        ['GET', '/stats', 404, 404, 404],
      ])('[6] [3.2] rules are written against the path as served: %s %s', async (method, path, ...expected) => {
        const statuses = [];
        for (const token of [undefined, user, admin])
          statuses.push((await ask(method, path, token === undefined ? {} : { token })).status);
        expect(statuses).toEqual(expected);
      });

      it('[6] [3.2] the package’s routes keep the contract’s refusals, and a refusal comes before the body', async () => {
        const broken = { body: '{', headers: { 'content-type': 'application/json' } };
        const refused = await ask('POST', '/articles', broken);
        expect([refused.status, refused.json]).toEqual([401, refusal('Authentication required')]);
        expect(refused.headers['www-authenticate']).toBe('Bearer');
        const forbidden = await ask('DELETE', '/articles/1', { token: user });
        expect([forbidden.status, forbidden.json]).toEqual([403, refusal('Admin access required')]);
      });

      it('[6] what the prefix excludes is served, and governed, without it', async () => {
        expect((await request(app.url, 'GET', '/health')).json).toEqual({ up: true });
        expect((await ask('GET', '/health')).status).toBe(404);
        expect((await request(app.url, 'GET', '/articles')).status).toBe(404);
        expect((await request(app.url, 'POST', '/auth/login', { json: {} })).status).toBe(404);
      });
    });

    describe("the application's own routes", () => {
      it('[6] keep its pipe: whitelisted, validated and transformed', async () => {
        expect((await ask('GET', '/notes?limit=5')).json).toEqual({ limit: 5, type: 'number', isQuery: true });
        const added = await ask('POST', '/notes', { token: user, json: { text: 'hello' } });
        expect([added.status, added.json]).toEqual([201, { text: 'hello', isNote: true, by: 'ann@example.com' }]);
      });

      it.each<[what: string, method: string, path: string, options: RequestOptions, status: number]>([
        ['its own exception', 'GET', '/notes/teapot', {}, 418],
        ['a crash', 'GET', '/notes/crash', {}, 500],
        ['a body that its pipe refuses', 'POST', '/notes', { json: { text: 'x' } }, 400],
        ['a field that its pipe does not know', 'POST', '/notes', { json: { text: 'hello', x: 1 } }, 400],
        ['a query that its pipe refuses', 'GET', '/notes?limit=abc', {}, 400],
        ['broken JSON', 'POST', '/notes', { body: '{', headers: { 'content-type': 'application/json' } }, 400],
        ['an unknown path', 'GET', '/nowhere', {}, 404],
        ['a refusal by a role', 'GET', '/backstage/stats', {}, 403],
      ])('[6] [4.3] keep its filter: %s', async (_, method, path, options, status) => {
        const answer = await ask(method, path, { token: user, ...options });
        expect([answer.status, answer.json]).toEqual([status, { own: true, status }]);
      });

      it('[6] [3.2] a refusal there goes through its filter, with the challenge', async () => {
        const answer = await ask('POST', '/notes', { json: { text: 'hello' } });
        expect([answer.status, answer.json]).toEqual([401, { own: true, status: 401 }]);
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      });
    });

    describe('CORS', () => {
      it.each([
        '/articles',
        '/articles/1',
        '/articles/search',
        '/articles/exists/1',
        '/auth/login',
        '/auth/register',
        '/auth/me',
      ])('[6] [5] a preflight of %s is 204 without a token', async (path) => {
        const answer = await ask('OPTIONS', path, {
          headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
        });
        expect([answer.status, answer.text]).toEqual([204, '']);
        expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
      });

      it.each(['/shelves', '/notes', '/auth/nope', '/articles/1/x', '/nowhere'])(
        '[6] [5] OPTIONS %s belongs to no group: no CORS headers',
        async (path) => {
          const answer = await ask('OPTIONS', path, { headers: { origin: ORIGIN } });
          expect(answer.status).toBe(404);
          expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
        },
      );

      it.each<[what: string, method: string, path: string, options: RequestOptions, status: number]>([
        ['a list', 'GET', '/articles', {}, 200],
        ['a missing record', 'GET', '/articles/999999', {}, 404],
        ['a wrong id', 'GET', '/articles/abc', {}, 400],
        ['a refusal', 'POST', '/articles', { json: {} }, 401],
        ['broken JSON', 'POST', '/auth/login', { body: '{', headers: { 'content-type': 'application/json' } }, 400],
        ['a failed login', 'POST', '/auth/login', { json: { email: 'a@b.example', password: PASSWORD } }, 401],
      ])(
        '[6] [5] the headers are on the answer of the request itself: %s',
        async (_, method, path, options, status) => {
          const answer = await ask(method, path, options);
          expect(answer.status).toBe(status);
          expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
        },
      );
    });
  });
});
