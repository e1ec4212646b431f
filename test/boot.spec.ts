/** Every wrong declaration refuses to boot with one sentence; every warning is one line, and a clean shop has none. */
import {
  Controller,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Post,
  Scope,
  type Type,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  type AuthOptions,
  AuthUser,
  cors,
  CrudController,
  CrudModule,
  OverrideNote,
  type CrudOptions,
  type ListQuery,
  routesOf,
  SecurityConfig,
  UserRepository,
} from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { request } from './harness/client.js';
import { createDatabase } from './harness/databases.js';
import {
  bootError,
  linesOf,
  loggedAtBoot,
  type Platform,
  PLATFORMS,
  type RootModule,
  startApp,
  type StartOptions,
} from './harness/platforms.js';
import { Category, Product, type Rules, shopError, shopModule, type ShopOptions, User } from './harness/shop.js';
import { TEST_SECRET } from './harness/tokens.js';
import { refusal } from './harness/refusal.js';

@Entity()
class Widget {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ select: false, nullable: true })
  hidden!: string;

  @Column('simple-json', { nullable: true })
  extra!: unknown;
}

/** Entities that are not as the contract wants them. */
@Entity()
class Keyless {
  @Column()
  name!: string;
}

/** No module makes it known to a data source. */
@Entity()
class Unloaded {
  @PrimaryGeneratedColumn()
  id!: number;
}

class NotMapped {
  id!: number;
}

class NotAUser {
  id!: number;
}

class UnmappedUser extends AuthUser {}

@Injectable()
class SomeService {
  find(): string {
    return 'nothing';
  }
}

@Controller('plain')
class PlainController {
  @Get()
  read(): object {
    return {};
  }
}

/** What any JavaScript could hand over. */
const anything = (value: unknown): never => value as never;

/** The sentence: path of the option, what was expected, what was got, what to do. */
interface Sentence {
  path: string | RegExp;
  /** Of what follows the path. */
  says?: RegExp;
}

function expectSentence(error: Error, { path, says = /./ }: Sentence): void {
  expect(`${error.name}: ${error.message}`).toMatch(/^InvalidOptionError: /);
  expect(error.message).not.toMatch(/[\r\n]/);
  expect(error.message).toMatch(/ must be .+, got .+\. .+\.$/);
  if (typeof path === 'string') expect(error.message.slice(0, path.length)).toBe(path);
  else expect(error.message).toMatch(path);
  expect(error.message).toMatch(says);
  // A sentence for people: nothing printed of the inside of an object.
  expect(error.message).not.toMatch(/\[object |\[Function|Symbol\(/);
  for (const secret of SECRETS) expect(error.message).not.toContain(secret);
}

const SHORT_SECRET = 'hunter2hunter2';
const SECRETS = [SHORT_SECRET, TEST_SECRET];

const auth = (name: string): string => `AuthModule option \`${name}\``;
const crud = (name: string, entity = 'Product'): string => `CRUD option \`${name}\` of ${entity}`;

/** The error of declaring and booting a module that is made only now. */
async function errorOf(
  platform: Platform,
  declare: (database: Parameters<typeof TypeOrmModule.forRoot>[0]) => RootModule,
  options: StartOptions = {},
): Promise<Error> {
  const database = await createDatabase();
  let root: RootModule;
  try {
    root = declare(database.options);
  } catch (error) {
    await database.drop();
    return error as Error;
  }
  return bootError(platform, root, { ...options, onClose: database.drop });
}

const withSecret = (options: Partial<AuthOptions>): AuthOptions => ({
  userClass: User,
  jwtSecret: TEST_SECRET,
  bcryptRounds: 4,
  ...options,
});

/** A module with one middleware binding. */
function boundModule(
  imports: NonNullable<Parameters<typeof Module>[0]['imports']>,
  bind: () => [cors: Type, ...routes: object[]],
): Type {
  @Module({ imports })
  class BoundModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      const [middleware, ...routes] = bind();
      consumer.apply(middleware).forRoutes(...(routes as never[]));
    }
  }
  return BoundModule;
}

/** Options are checked before a platform is involved, so those tests use one platform. */
const platform: Platform = 'express';

afterEach(() => {
  delete process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'test';
});

describe('wrong options of AuthModule', () => {
  it.each<[section: string, what: string, options: Partial<AuthOptions>, sentence: Sentence]>([
    [
      '[1]',
      'an unknown option',
      { jwtSecrets: SHORT_SECRET } as never,
      { path: 'AuthModule', says: /got "jwtSecrets"/ },
    ],
    ['[1]', 'no userClass', { userClass: anything(undefined) }, { path: auth('userClass'), says: /got undefined/ }],
    ['[1]', 'userClass by name', { userClass: anything('User') }, { path: auth('userClass'), says: /got "User"/ }],
    [
      '[1]',
      'userClass that does not extend AuthUser',
      { userClass: anything(NotAUser) },
      { path: auth('userClass'), says: /extends AuthUser, got `NotAUser`/ },
    ],
    ['[1]', 'AuthUser itself', { userClass: anything(AuthUser) }, { path: auth('userClass') }],
    [
      '[1]',
      'userClass that is no entity',
      { userClass: anything(UnmappedUser) },
      { path: auth('userClass'), says: /entity, got `UnmappedUser`\. .*@Entity\(\)/ },
    ],
    [
      '[1]',
      'repositoryClass that does not extend UserRepository',
      { repositoryClass: anything(SomeService) },
      { path: auth('repositoryClass'), says: /UserRepository, got `SomeService`/ },
    ],
    ['[1]', 'UserRepository itself', { repositoryClass: anything(UserRepository) }, { path: auth('repositoryClass') }],
    [
      '[2.2]',
      'loginMethod in lower case',
      { loginMethod: anything('email') },
      { path: auth('loginMethod'), says: /got "email"/ },
    ],
    [
      '[2.2]',
      'jwtExpirationHours 0',
      { jwtExpirationHours: 0 },
      { path: auth('jwtExpirationHours'), says: /positive.*got 0/ },
    ],
    [
      '[2.2]',
      'jwtExpirationHours NaN',
      { jwtExpirationHours: NaN },
      { path: auth('jwtExpirationHours'), says: /got NaN/ },
    ],
    [
      '[2.2]',
      'jwtExpirationHours as text',
      { jwtExpirationHours: anything('24') },
      { path: auth('jwtExpirationHours'), says: /got "24"/ },
    ],
    ['[2.2]', 'bcryptRounds 3', { bcryptRounds: 3 }, { path: auth('bcryptRounds'), says: /got 3/ }],
    ['[2.2]', 'bcryptRounds 32', { bcryptRounds: 32 }, { path: auth('bcryptRounds'), says: /got 32/ }],
    [
      '[2.2]',
      'registration as text',
      { registration: anything('false') },
      { path: auth('registration'), says: /true or false, got "false"/ },
    ],
    [
      '[2.2]',
      'registrationFields a text',
      { registrationFields: anything('phone') },
      { path: auth('registrationFields') },
    ],
    [
      '[2.2]',
      'registrationFields with an empty name',
      { registrationFields: [''] },
      { path: auth('registrationFields') },
    ],
    [
      '[2.3]',
      'registrationFields with the role',
      { registrationFields: ['role'] },
      { path: auth('registrationFields'), says: /got "role"/ },
    ],
    [
      '[2.3]',
      'registrationFields with no column',
      { registrationFields: ['phone'] },
      { path: auth('registrationFields'), says: /"phone"/ },
    ],
    [
      '[3.4]',
      'an unknown defaultAccess',
      { defaultAccess: anything('deny') },
      { path: auth('defaultAccess'), says: /(?=.*authenticated)(?=.*public)(?=.*denied).*got "deny"/ },
    ],
    ['[3.4]', 'defaultAccess toString', { defaultAccess: anything('toString') }, { path: auth('defaultAccess') }],
    [
      '[3.2]',
      'enforcedRoles a text',
      { enforcedRoles: anything('ADMIN') },
      { path: auth('enforcedRoles'), says: /array.*got "ADMIN"/ },
    ],
    ['[3.2]', 'enforcedRoles with an empty name', { enforcedRoles: ['ADMIN', ' '] }, { path: auth('enforcedRoles') }],
    [
      '[2.2]',
      'an empty authBasePath',
      { authBasePath: '' },
      { path: auth('authBasePath'), says: /got an empty string/ },
    ],
    ['[2.2]', 'authBasePath /', { authBasePath: '/' }, { path: auth('authBasePath') }],
    [
      '[2.2]',
      'authBasePath with a wildcard',
      { authBasePath: '/api/*' },
      { path: auth('authBasePath'), says: /got "\/api\/\*"/ },
    ],
    ['[2.2]', 'authBasePath with a parameter', { authBasePath: '/:tenant/auth' }, { path: auth('authBasePath') }],
    ['[2.2]', 'authBasePath with dot segments', { authBasePath: '/api/../auth' }, { path: auth('authBasePath') }],
    ['[2.2]', 'an empty jwtSecret', { jwtSecret: '' }, { path: auth('jwtSecret'), says: /got an empty string/ }],
    ['[2.2]', 'jwtSecret a number', { jwtSecret: anything(4711) }, { path: auth('jwtSecret'), says: /got (?!.*4711)/ }],
    ['[2.2]', 'jwtSecret an object', { jwtSecret: anything({ secret: SHORT_SECRET }) }, { path: auth('jwtSecret') }],
  ])('%s %s', async (_section, _what, options, sentence) => {
    expectSentence(await shopError(platform, { auth: options }), sentence);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an array', []],
    ['a text', 'User'],
    ['the user class', User],
  ])('[1] options that are %s', (_, options) => {
    for (const declare of [AuthModule.forRoot, AuthModule.forRootAsync])
      expectSentence(
        thrown(() => declare.call(AuthModule, anything(options))),
        { path: 'AuthModule' },
      );
  });

  it.each([
    ['7.2', 'sortableFields', true],
    ['7.2', 'defaultSort', 5],
    ['7.4', 'includableRelations', 'a'],
    ['7.4', 'maxIncluded', 0],
    ['7.7', 'enableCount', 'yes'],
    ['7.7', 'aggregatableFields', 'price'],
    ['7.8', 'enableExport', 1],
    ['8.2', 'enableBatch', {}],
    ['8.3', 'linkableRelations', 'a'],
    ['8.4', 'enableRestore', 'yes'],
    ['8.4', 'deletedRoles', 'ADMIN'],
    ['8.5', 'requireIfMatch', null],
    ['10', 'searchIndex', 'fts'],
  ])('[%s] %s as %j', async (_section, name, value) => {
    const products = { [name]: value } as never;
    expectSentence(await shopError(platform, { products, overridden: false }), { path: crud(name) });
  });

  it('[1] an unknown option lists those that are known', async () => {
    const error = await shopError(platform, { auth: { jwtExpiration: 24 } as never });
    for (const name of [
      'userClass',
      'repositoryClass',
      'loginMethod',
      'jwtSecret',
      'jwtExpirationHours',
      'authBasePath',
      'bcryptRounds',
      'registration',
      'registrationFields',
      'defaultAccess',
      'enforcedRoles',
    ])
      expect(error.message).toContain(name);
  });

  it.each<[string, object, Sentence]>([
    ['an unknown option', { useFactor: () => ({}) }, { path: 'AuthModule', says: /got "useFactor"/ }],
    [
      'an option of the factory given statically',
      { jwtSecret: SHORT_SECRET },
      { path: 'AuthModule', says: /got "jwtSecret"/ },
    ],
    ['no userClass', { userClass: undefined }, { path: auth('userClass') }],
    ['a bad authBasePath', { authBasePath: '/:id' }, { path: auth('authBasePath') }],
    [
      'a factory that returns an unknown option',
      { useFactory: () => ({ jwtSecrets: SHORT_SECRET }) },
      { path: 'AuthModule', says: /got "jwtSecrets"/ },
    ],
    [
      'a factory that returns a static option',
      { useFactory: () => ({ authBasePath: '/id' }) },
      { path: 'AuthModule', says: /got "authBasePath"/ },
    ],
    [
      'a factory that returns undefined',
      { useFactory: () => undefined },
      { path: 'AuthModule', says: /got undefined/ },
    ],
    [
      'a factory that returns a bad option',
      { useFactory: async () => ({ jwtExpirationHours: 0 }) },
      { path: auth('jwtExpirationHours') },
    ],
  ])('[1] forRootAsync with %s', async (_, options, sentence) => {
    const error = await errorOf(platform, (database) => ({
      imports: [
        TypeOrmModule.forRoot(database),
        AuthModule.forRootAsync(
          anything({ userClass: User, useFactory: () => ({ jwtSecret: TEST_SECRET, bcryptRounds: 4 }), ...options }),
        ),
      ],
    }));
    expectSentence(error, sentence);
  });

  it.each([
    ['no jwtSecret', { jwtSecret: undefined }, /got none/],
    ['a short jwtSecret', { jwtSecret: SHORT_SECRET }, /32 bytes.*got 14 bytes/],
    ['a jwtSecret of 31 bytes', { jwtSecret: 'x'.repeat(31) }, /got 31 bytes/],
  ])('[2.2] %s in production', async (_, options, says) => {
    process.env['NODE_ENV'] = 'production';
    const error = await shopError(platform, { auth: options });
    expectSentence(error, { path: auth('jwtSecret'), says });
    expect(error.message).toMatch(/production/);
  });

  it('[2.2] a jwtSecret of 32 bytes is enough for production', async () => {
    process.env['NODE_ENV'] = 'production';
    const { error, warnings } = await booted(platform, { auth: { jwtSecret: 'ü'.repeat(16) } });
    expect([error, warnings]).toEqual([undefined, []]);
  });
});

describe.each(PLATFORMS)('an authBasePath that collides on %s', (platform) => {
  @Controller()
  class OwnMe {
    @Get('api/auth/me')
    me(): object {
      return { own: true };
    }
  }

  @Controller('api/auth')
  class OwnLogin {
    @Post('login')
    login(): object {
      return { own: true };
    }
  }

  it.each<[string, ShopOptions, Sentence]>([
    [
      'with the records of a resource',
      { auth: { authBasePath: '/api/products' } },
      { path: /`authBasePath`|`endpoint`/, says: /\/api\/products\// },
    ],
    [
      'with a resource at its login',
      { categories: { endpoint: '/api/auth/login' } },
      { path: /`authBasePath`|`endpoint`/, says: /\/api\/auth\/login/ },
    ],
    [
      'with a GET of the application',
      { controllers: [OwnMe] },
      { path: auth('authBasePath'), says: /GET \/api\/auth\/me/ },
    ],
    [
      'with a POST of the application',
      { controllers: [OwnLogin] },
      { path: auth('authBasePath'), says: /POST \/api\/auth\/login/ },
    ],
  ])('[2.2] %s', async (_, options, sentence) => {
    expectSentence(await shopError(platform, options), sentence);
  });

  it('[2.2] with a controller that stands in a module imported earlier', async () => {
    @Module({ controllers: [OwnMe] })
    class EarlierModule {}
    const error = await errorOf(platform, (database) => ({
      imports: [EarlierModule, TypeOrmModule.forRoot(database), AuthModule.forRoot(withSecret({}))],
    }));
    expectSentence(error, { path: auth('authBasePath'), says: /GET \/api\/auth\/me/ });
  });

  it('[2.2] with what main.ts added to the adapter', async () => {
    const error = await shopError(platform, {
      configure: (app) => void app.getHttpAdapter().get('/api/auth/me', () => undefined),
    });
    expectSentence(error, { path: auth('authBasePath'), says: /GET \/api\/auth\/me/ });
  });

  it('[2.2] with a second AuthModule at the same place', async () => {
    const error = await errorOf(platform, (database) => ({
      imports: [
        TypeOrmModule.forRoot(database),
        AuthModule.forRoot(withSecret({})),
        AuthModule.forRoot(withSecret({ jwtExpirationHours: 1 })),
      ],
    }));
    expectSentence(error, { path: /^AuthModule / });
  });

  it('[2.2] with a second AuthModule elsewhere, whose guard would refuse the tokens of the first', async () => {
    const error = await errorOf(platform, (database) => ({
      imports: [
        TypeOrmModule.forRoot(database),
        AuthModule.forRoot(withSecret({})),
        AuthModule.forRoot(withSecret({ authBasePath: '/x' })),
      ],
    }));
    expectSentence(error, { path: 'AuthModule', says: /once, got 2 imports/ });
  });

  it('[2.2] under a global prefix', async () => {
    const error = await shopError(platform, {
      auth: { authBasePath: '/products' },
      products: { endpoint: '/products' },
      rules: false,
      configure: (app) => void app.setGlobalPrefix('api'),
    });
    expectSentence(error, { path: /`authBasePath`|`endpoint`/ });
  });

  it('[2.2] never lets a parameter of the application take the place of an endpoint', async () => {
    @Controller('api/auth')
    class Greedy {
      @Get(':anything')
      any(): object {
        return { own: true };
      }
    }
    @Module({ controllers: [Greedy] })
    class EarlierModule {}
    const database = await createDatabase();
    const root = {
      imports: [EarlierModule, TypeOrmModule.forRoot(database.options), AuthModule.forRoot(withSecret({}))],
    };
    const running = await startApp(platform, root, { onClose: database.drop }).catch((error: Error) => error);
    if (running instanceof Error) return expectSentence(running, { path: auth('authBasePath') });
    const { status, json } = await request(running.url, 'GET', '/api/auth/me');
    expect([status, json]).toEqual([401, refusal('Authentication required')]);
    await running.close();
  });

  it('[2.2] but not with another method of the same path', async () => {
    @Controller('api/auth')
    class Beside {
      @Get('login')
      form(): object {
        return {};
      }

      @Get('other')
      other(): object {
        return {};
      }
    }
    expect((await booted(platform, { controllers: [Beside] })).error).toBeUndefined();
  });
});

describe('wrong options of a resource', () => {
  it.each<[section: string, what: string, options: Partial<CrudOptions>, sentence: Sentence]>([
    [
      '[1]',
      'an unknown option',
      { enabledSearch: true } as never,
      { path: 'CRUD options of Product', says: /got "enabledSearch"/ },
    ],
    ['[4.2]', 'no entity', { entity: anything(undefined) }, { path: 'CRUD option `entity`', says: /got undefined/ }],
    [
      '[4.2]',
      'entity by name',
      { entity: anything('Product') },
      { path: 'CRUD option `entity`', says: /got "Product"/ },
    ],
    [
      '[4.8]',
      'an entity that is not mapped',
      { entity: anything(NotMapped) },
      { path: crud('entity', 'NotMapped'), says: /@Entity\(\)/ },
    ],
    ['[4.2]', 'no endpoint', { endpoint: anything(undefined) }, { path: crud('endpoint'), says: /got undefined/ }],
    ['[4.2]', 'an empty endpoint', { endpoint: '' }, { path: crud('endpoint'), says: /got an empty string/ }],
    ['[4.2]', 'endpoint /', { endpoint: '/' }, { path: crud('endpoint') }],
    [
      '[4.2]',
      'endpoint an array',
      { endpoint: anything(['/a', '/b']) },
      { path: crud('endpoint'), says: /got an array/ },
    ],
    ['[4.2]', 'endpoint with a wildcard', { endpoint: '/api/*' }, { path: crud('endpoint') }],
    ['[4.2]', 'endpoint with a method', { endpoint: 'GET /api/products' }, { path: crud('endpoint') }],
    [
      '[4.2]',
      'enablePagination as text',
      { enablePagination: anything('yes') },
      { path: crud('enablePagination'), says: /true, false, 'cursor' or 'both', got "yes"/ },
    ],
    ['[4.2]', 'enableSearch as text', { enableSearch: anything('false') }, { path: crud('enableSearch') }],
    [
      '[4.2]',
      'enableExists an object',
      { enableExists: anything({}) },
      { path: crud('enableExists'), says: /got an object/ },
    ],
    [
      '[4.2]',
      'enableSearch without searchableFields',
      { searchableFields: [] },
      { path: crud('searchableFields'), says: /enableSearch/ },
    ],
    [
      '[4.2]',
      'searchableFields a text',
      { searchableFields: anything('name') },
      { path: crud('searchableFields'), says: /array.*got "name"/ },
    ],
    [
      '[4.2]',
      'a searchable field that has the name of a page parameter',
      { searchableFields: ['name', 'size'] },
      { path: crud('searchableFields'), says: /page, size, count, fields.*got "size"/ },
    ],
    ['[4.2]', 'searchableFields with an empty name', { searchableFields: [''] }, { path: crud('searchableFields') }],
    [
      '[4.2]',
      'a searchable field that the entity lacks',
      { searchableFields: ['name', 'colour'] },
      { path: crud('searchableFields'), says: /name.*got "colour"/ },
    ],
    [
      '[4.2]',
      'a searchable field of every object',
      { searchableFields: ['constructor'] },
      { path: crud('searchableFields') },
    ],
    [
      '[4.6]',
      'a searchable field that never leaves',
      { entity: anything(Widget), searchableFields: ['hidden'] },
      { path: crud('searchableFields', 'Widget'), says: /got "hidden"/ },
    ],
    ['[4.2]', 'dataSource a number', { dataSource: anything(1) }, { path: crud('dataSource'), says: /got 1/ }],
    [
      '[4.2]',
      'a dataSource that does not exist',
      { dataSource: 'archive' },
      { path: crud('dataSource'), says: /"archive"/ },
    ],
    ['[4.2]', 'maxListSize 0', { maxListSize: 0 }, { path: crud('maxListSize'), says: /got 0/ }],
    ['[4.2]', 'maxListSize 1.5', { maxListSize: 1.5 }, { path: crud('maxListSize') }],
    ['[8.2]', 'maxBatchSize 0', { maxBatchSize: 0 }, { path: crud('maxBatchSize'), says: /got 0/ }],
    [
      '[8.2]',
      'a batch operation without enableBatch',
      { operations: ['createMany'] },
      { path: crud('operations'), says: /got "createMany"\. Set enableBatch/i },
    ],
    ['[8.9]', 'no operations', { operations: [] }, { path: crud('operations'), says: /at least one.*an array of 0/ }],
    [
      '[8.9]',
      'an unknown operation',
      { operations: ['findAll', anything('list')] },
      { path: crud('operations'), says: /findAll, findById.*got "list"/ },
    ],
    [
      '[8.9]',
      'an operation that is not enabled',
      { operations: ['findAll', 'count'] },
      { path: crud('operations'), says: /got "count"\. Set enableCount/i },
    ],
  ])('%s %s', async (_section, _what, options, sentence) => {
    expectSentence(await shopError(platform, { products: options, overridden: false }), sentence);
  });

  it('[1] an unknown option lists those that are known', async () => {
    const error = await shopError(platform, { products: { search: true } as never });
    for (const name of [
      'entity',
      'endpoint',
      'enablePagination',
      'enableSearch',
      'enableExists',
      'searchableFields',
      'dataSource',
      'maxListSize',
    ])
      expect(error.message).toContain(name);
  });

  it.each<[string, Type<object>, RegExp]>([['without a primary key', Keyless, /PrimaryGeneratedColumn/]])(
    '[4.8] an entity %s',
    async (_, entity, says) => {
      // In a data source of its own: TypeORM remembers for each what it is to load.
      const dataSource = entity.name;
      const error = await errorOf(platform, (database) => ({
        imports: [
          TypeOrmModule.forRoot({ ...database, name: dataSource }),
          CrudModule.forFeature({ entity, endpoint: '/api/things', dataSource, enablePagination: true }),
        ],
      }));
      expectSentence(error, { path: crud('entity', entity.name), says });
    },
  );

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an array', []],
    ['a text', '/api/products'],
    ['a number', 5],
    ['an empty object', {}],
  ])('[1] a resource that is %s', (_, resource) => {
    expectSentence(
      thrown(() => CrudModule.forFeature(anything(resource))),
      { path: 'CRUD option' },
    );
    expectSentence(
      thrown(() => CrudController(anything(resource))),
      { path: 'CRUD option' },
    );
  });

  it('[1] forFeature without a resource', () => {
    expectSentence(
      thrown(() => CrudModule.forFeature()),
      { path: 'CrudModule.forFeature', says: /got none/ },
    );
  });

  it.each<[string, unknown]>([
    ['an ordinary controller', PlainController],
    ['a provider', SomeService],
    ['an entity', Product],
  ])('[1] forFeature with %s', (_, resource) => {
    expectSentence(
      thrown(() => CrudModule.forFeature(anything(resource))),
      {
        path: 'CrudModule.forFeature',
        says: /CrudController\(options\)/,
      },
    );
  });

  it('[4.8] a class in `controllers` whose entity the data source does not know', async () => {
    class UnloadedController extends CrudController({ entity: Unloaded, endpoint: '/api/unloaded' }) {}
    const error = await errorOf(platform, (database) => ({
      imports: [TypeOrmModule.forRoot(database)],
      controllers: [UnloadedController],
    }));
    expect(error.message).toMatch(/^Unloaded is not registered with the data source\. .*autoLoadEntities/);
  });

  it('[4.8] an entity that the data source does not know, because it loads none by itself', async () => {
    const error = await errorOf(platform, (database) => ({
      imports: [
        TypeOrmModule.forRoot({ ...database, autoLoadEntities: false, entities: [Category] } as typeof database),
        CrudModule.forFeature({ entity: Product, endpoint: '/api/products' }),
      ],
    }));
    expect(error.message).toMatch(/^Product is not registered with the data source\. Add it to `entities`/);
  });

  it.each<[string, ShopOptions['resources']]>([
    ['of the same entity', [{ entity: Product, endpoint: '/api/products' }]],
    ['of two entities', [{ entity: Widget, endpoint: '/api/products' }]],
    ['spelled otherwise', [{ entity: Widget, endpoint: 'api//products/' }]],
  ])('[4.2] two resources on one endpoint, %s', async (_, resources = []) => {
    const error = await shopError(platform, { resources });
    expectSentence(error, {
      path: /^CRUD option `endpoint` of (Product|Widget)/,
      says: /\/products/,
    });
  });

  it('[4.2] two resources on one endpoint, in two modules', async () => {
    const error = await errorOf(platform, (database) => ({
      imports: [
        TypeOrmModule.forRoot(database),
        CrudModule.forFeature({ entity: Product, endpoint: '/api/products', enablePagination: true }),
        CrudModule.forFeature({ entity: Category, endpoint: '/api/products', enablePagination: true }),
      ],
    }));
    expectSentence(error, { path: /^CRUD option `endpoint` of (Product|Category)/ });
  });

  it('[4.2] two resources on two endpoints of which one is longer are fine', async () => {
    const resources = [{ entity: Widget, endpoint: '/api/products-old', enablePagination: true }];
    expect((await booted(platform, { resources })).error).toBeUndefined();
  });
});

describe('wrong rules', () => {
  it.each<[string, (rules: Rules) => void, Sentence]>([
    [
      'publicEndpoints',
      (rules) => rules.publicEndpoints(),
      { path: 'The arguments of ShopSecurity.publicEndpoints', says: /got none/ },
    ],
    [
      'requireAuth',
      (rules) => rules.requireAuth(),
      { path: 'The arguments of ShopSecurity.requireAuth', says: /got none/ },
    ],
    [
      'requireRole',
      (rules) => rules.requireRole('ADMIN'),
      { path: 'The arguments of ShopSecurity.requireRole', says: /got none/ },
    ],
  ])('[3.1] no pattern for %s', async (_, rules, sentence) => {
    expectSentence(await shopError(platform, { rules }), sentence);
  });

  it.each<[string, unknown]>([
    ['empty', ''],
    ['a blank', ' '],
    ['undefined', undefined],
    ['null', null],
    ['a number', 1],
    ['an array with an empty name', ['ADMIN', '']],
  ])('[3.2] a role that is %s', async (_, role) => {
    const error = await shopError(platform, { rules: (rules) => rules.requireRole(anything(role), '/api/**') });
    expectSentence(error, { path: 'ShopSecurity.requireRole', says: /role/ });
  });

  it.each<[string, (rules: Rules) => void]>([
    [
      'public and for a token',
      ({ publicEndpoints, requireAuth }) => {
        publicEndpoints('/api/**');
        requireAuth('/api/**');
      },
    ],
    [
      'for a role and public',
      ({ publicEndpoints, requireRole }) => {
        requireRole('ADMIN', 'DELETE /api/products/*');
        publicEndpoints('GET,DELETE /api/products/*');
      },
    ],
  ])('[3.3] the same pattern %s', async (_, rules) => {
    const error = await shopError(platform, { rules });
    expectSentence(error, {
      path: 'The pattern of ShopSecurity.',
      says: /publicEndpoints.*require|require.*publicEndpoints/,
    });
  });

  it('[3.3] the same pattern both ways in two configurations', async () => {
    @Injectable()
    class MoreSecurity extends SecurityConfig {
      configure(): void {
        this.publicEndpoints('/api/admin/**');
      }
    }
    const error = await shopError(platform, { providers: [MoreSecurity] });
    expectSentence(error, { path: /^The pattern of (ShopSecurity|MoreSecurity)\./, says: /\/api\/admin\/\*\*/ });
  });

  @Injectable({ scope: Scope.REQUEST })
  class RequestScoped extends SecurityConfig {
    configure(): void {
      this.publicEndpoints('/');
    }
  }

  @Injectable({ scope: Scope.TRANSIENT })
  class TransientConfig extends SecurityConfig {
    configure(): void {
      this.publicEndpoints('/');
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class PerRequest {
    readonly name = 'per request';
  }

  @Injectable()
  class DependsOnRequest extends SecurityConfig {
    constructor(private readonly dependency: PerRequest) {
      super();
    }

    configure(): void {
      this.publicEndpoints(`/${this.dependency.name}`);
    }
  }

  it.each<[string, Type[], string]>([
    ['that is request-scoped', [RequestScoped], 'RequestScoped'],
    ['that is transient', [TransientConfig], 'TransientConfig'],
    ['that depends on a request-scoped provider', [PerRequest, DependsOnRequest], 'DependsOnRequest'],
  ])('[1] a configuration %s', async (_, providers, name) => {
    expectSentence(await shopError(platform, { providers }), { path: name, says: /singleton/ });
  });

  it.each<[string, ShopOptions]>([
    ['and its rules', {}],
    ['and rules that declare nothing', { rules: () => {} }],
  ])('[1] without AuthModule, %s', async (_, options) => {
    const error = await shopError(platform, { auth: false, ...options });
    expectSentence(error, { path: 'ShopSecurity', says: /AuthModule.*\. .*AuthModule\.forRoot/ });
  });

  it('[1] an error of configure() itself stops the boot as it is', async () => {
    const error = await shopError(platform, {
      rules: async () => {
        throw new Error('the rules could not be read');
      },
    });
    expect(error.message).toBe('the rules could not be read');
  });
});

describe('wrong CORS groups', () => {
  it.each<[string, () => [cors: Type, ...routes: object[]], Sentence]>([
    [
      'cors(undefined)',
      () => [cors(undefined), ...routesOf(PlainController)],
      { path: 'The argument of cors()', says: /got undefined/ },
    ],
    [
      'a missing environment variable',
      () => [cors(process.env['NO_SUCH_VARIABLE']), ...routesOf(PlainController)],
      { path: 'The argument of cors()', says: /got undefined/ },
    ],
    [
      'an origin with a path',
      () => [cors('https://shop.example/'), ...routesOf(PlainController)],
      { path: 'The argument of cors()', says: /"https:\/\/shop\.example"/ },
    ],
  ])('[5] %s', async (_, bind, sentence) => {
    expectSentence(await errorOf(platform, () => boundModule([], bind)), sentence);
  });

  it.each<[string, () => [cors: Type, ...routes: object[]], Sentence]>([
    [
      'a class that is no controller',
      () => [cors(), ...routesOf(SomeService)],
      { path: /^The first argument of routesOf/, says: /SomeService/ },
    ],
    [
      'an unknown operation',
      () => [cors(), ...routesOf(PlainController, 'findAll')],
      { path: 'The operation of routesOf(PlainController)', says: /"findAll"/ },
    ],
  ])('[1] routesOf with %s', async (_, bind, sentence) => {
    expectSentence(await errorOf(platform, () => boundModule([], bind)), sentence);
  });
});

/** What a shop with these changes logs at boot. */
async function booted(
  platform: Platform,
  options: ShopOptions = {},
): Promise<{ error: unknown; warnings: string[]; errors: string[]; logs: string[] }> {
  const database = await createDatabase();
  const { logs, error } = await loggedAtBoot(platform, shopModule(database.options, options), {
    ...options,
    onClose: database.drop,
  });
  // Other cases of this file declare controllers that this application does not have.
  const warnings = linesOf(logs, 'warn').filter((line) => !line.includes('No module registers'));
  return { logs, error, warnings, errors: linesOf(logs, 'error') };
}

describe.each(PLATFORMS)('boot warnings on %s', (platform) => {
  it.each<[string, ShopOptions]>([
    ['the shop of the contract', {}],
    ['without the package’s rules, but with a default', { rules: false, auth: { defaultAccess: 'public' } }],
    ['without AuthModule and rules', { auth: false, rules: false }],
    ['with a CORS group', { origin: 'https://shop.example' }],
    ['with an unpaged list that has a bound', { categories: { enablePagination: false, maxListSize: 100 } }],
    ['with enforcedRoles that hold every role', { auth: { enforcedRoles: ['ADMIN'] } }],
    ['with another base path', { auth: { authBasePath: 'id/' } }],
    [
      'with a global prefix',
      {
        auth: { authBasePath: '/auth' },
        rules: ({ requireAuth }) => requireAuth('/api/**'),
        products: { endpoint: '/products' },
        categories: { endpoint: '/categories' },
        configure: (app) => void app.setGlobalPrefix('api'),
      },
    ],
  ])('[1] none: %s', async (_, options) => {
    const { error, warnings, errors } = await booted(platform, options);
    expect([error, warnings, errors]).toEqual([undefined, [], []]);
  });

  class Unreachable extends CrudController({ entity: Widget, endpoint: '/api/widgets', enablePagination: true }) {
    @OverrideNote('sorted')
    override findAll(query: ListQuery) {
      return super.findAll(query);
    }
  }

  it.each<[section: string, what: string, options: ShopOptions, warning: RegExp]>([
    ['[2.2]', 'no jwtSecret', { auth: { jwtSecret: undefined } }, /jwtSecret.*random/],
    ['[2.2]', 'a jwtSecret that is too short', { auth: { jwtSecret: SHORT_SECRET } }, /jwtSecret.*14 bytes.*32/],
    [
      '[2.2]',
      'a base path that repeats the global prefix',
      {
        rules: ({ requireAuth }) => requireAuth('/api/**'),
        auth: { authBasePath: '/api/auth' },
        configure: (app) => void app.setGlobalPrefix('api'),
      },
      /authBasePath \/api\/auth.*\/api\/api\/auth/,
    ],
    [
      '[3.2]',
      'a rule for a role outside of enforcedRoles',
      {
        auth: { enforcedRoles: ['ADMIN'] },
        rules: ({ requireAuth, requireRole }) => {
          requireAuth('/**');
          requireRole('CASHIER', '/api/categories/**');
          requireRole('ADMIN', '/api/admin/**');
        },
      },
      /CASHIER.*\/api\/categories\/\*\*/,
    ],
    [
      '[3.3]',
      'a rule that matches no route',
      { rules: ({ requireAuth }) => requireAuth('/**', '/nowhere/*') },
      /\/nowhere\/\*/,
    ],
    [
      '[3.3]',
      'a rule whose method no route has',
      { rules: ({ requireAuth }) => requireAuth('/**', 'SEARCH /api/products/*') },
      /SEARCH \/api\/products\/\*/,
    ],
    ['[3.4]', 'no SecurityConfig', { rules: false }, /SecurityConfig.*open/],
    ['[4.4]', 'a list without a bound', { categories: { enablePagination: false } }, /\/api\/categories/],
    [
      '[4.7]',
      'an overridden operation without a route',
      { resources: [Unreachable] },
      /Unreachable\.findAll.*@Get\(\)/,
    ],
  ])('%s one, for %s', async (_section, _what, options, warning) => {
    const { error, warnings } = await booted(platform, options);
    expect(error).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    expect(warnings[0]).not.toContain('\n');
    for (const secret of SECRETS) expect(warnings[0]).not.toContain(secret);
  });

  it('[1] one, for a CORS group that covers no route', async () => {
    const child = boundModule([], () => [cors(), ...routesOf(PlainController)]);
    @Module({ imports: [child], controllers: [PlainController] })
    class ShelfModule {}
    const { logs, error } = await loggedAtBoot(platform, {
      imports: [ShelfModule, RouterModule.register([{ path: 'shelf', module: ShelfModule }])],
    });
    expect([error, linesOf(logs, 'warn')]).toEqual([undefined, [expect.stringMatching(/\/plain\b/)]]);
  });

  it('[3.2] the rules outside of enforcedRoles are listed in one', async () => {
    const { warnings } = await booted(platform, {
      auth: { enforcedRoles: [] },
      rules: ({ requireAuth, requireRole }) => {
        requireAuth('/**');
        requireRole('ADMIN', '/api/admin/**');
        requireRole('CASHIER', 'GET /api/categories', '/api/products/**');
      },
    });
    expect(warnings).toHaveLength(1);
    for (const rule of ['/api/admin/**', 'GET /api/categories', '/api/products/**'])
      expect(warnings[0]).toContain(rule);
  });

  it('[3.3] every rule that matches no route has its own', async () => {
    const { warnings } = await booted(platform, {
      rules: ({ requireAuth, publicEndpoints }) => {
        requireAuth('/**', '/nowhere');
        publicEndpoints('/elsewhere/**');
      },
    });
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).toMatch(/\/nowhere/);
    expect(warnings.join()).toMatch(/\/elsewhere\/\*\*/);
  });

  it('[3.3] more than five rules of one kind have one, with the first five and the number of the others', async () => {
    const paths = Array.from({ length: 100 }, (_, index) => `/nowhere/${index}`);
    const parts = paths.slice(0, 7).map((_, index) => `/api/products/${index + 1}`);
    const rules: ShopOptions['rules'] = ({ requireAuth, publicEndpoints }) => {
      requireAuth('/**', ...paths);
      publicEndpoints(...parts);
    };
    const { warnings } = await booted(platform, { rules });
    const named = (of: string, list: readonly string[]): string =>
      list.map((path) => `ShopSecurity.${of}("${path}")`).join(', ');
    expect(warnings).toEqual([
      `warn [SecurityRules] ${named('requireAuth', paths.slice(0, 5))} and 95 more: each matches no route. Correct the pattern (with global prefix and version) or remove it.`,
      `warn [SecurityRules] ${named('publicEndpoints', parts.slice(0, 5))} and 2 more: each opens only a part of a route. Declare a route for that part, or open the whole route.`,
    ]);
    const { error } = await booted(platform, { rules, auth: { strict: true } });
    expect(String(error)).toContain('and 95 more: each matches no route');
  });

  it('[4.4] every list without a bound is named in one', async () => {
    const { warnings } = await booted(platform, {
      products: { enablePagination: false },
      categories: { enablePagination: false },
    });
    expect(warnings).toEqual([expect.stringMatching(/\/api\/products.*\/api\/categories/)]);
  });

  it('[2.2] a random secret is another one for each start, and never printed', async () => {
    const { logs } = await booted(platform, { auth: { jwtSecret: undefined } });
    expect(logs.join('\n')).not.toMatch(/[A-Za-z0-9+/]{60,}={0,2}/);
  });

  it('[1] [4.7] the description of an override stands in the boot log, once', async () => {
    const { logs } = await booted(platform);
    expect(logs.filter((line) => line.includes('Only what is in stock'))).toEqual([
      expect.stringMatching(/^log .*ProductsController\.findAll.*Only what is in stock/),
    ]);
  });
});

function thrown(declare: () => unknown): Error {
  try {
    declare();
  } catch (error) {
    return error as Error;
  }
  throw new Error('This declaration was expected to be refused.');
}
