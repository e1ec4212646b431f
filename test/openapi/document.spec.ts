/** What SwaggerModule.createDocument makes of generated operations, overrides, and the endpoints of authentication. */
import { Controller, Get, Module, Put, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import {
  AuthModule,
  AuthUser,
  CrudController,
  CrudModule,
  type CrudResource,
  type CustomOperation,
  IdempotencyKey,
  LoginMethod,
  standardOperations,
} from 'declarest';
import { IsInt, IsOptional } from 'class-validator';
import {
  Column,
  DataSource,
  Entity,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type DataSourceOptions,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { startCrud, type CrudParts, type CrudService } from '../crud/service.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { DescribedApi, documentOf, type Described, type Schema } from './described.js';
import { ENTITIES, Item, Label, Maker, resources } from './shop-service.js';

@Entity()
class Price {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'decimal', precision: 10, scale: 2 })
  amount!: string;
}

@Entity()
class News {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity()
class Author {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'bigint', nullable: true })
  @IsOptional()
  @IsInt()
  readers!: number | null;
}

@Entity()
class Poem {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Author)
  author!: Author;
}

@Entity()
class Novel {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Author)
  author!: Author;
}

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

async function apiOf(parts: CrudParts): Promise<DescribedApi> {
  const service = await startCrud('express', { entities: ENTITIES, ...parts });
  running.push(service);
  return new DescribedApi(documentOf(service.app));
}

const propertiesOf = (api: DescribedApi, name: string): Readonly<Record<string, Schema>> =>
  api.named(name)['properties'] as Readonly<Record<string, Schema>>;

const parameterOf = ({ parameters }: Described, name: string) => parameters.find((each) => each.name === name);

it('describes the operations that an application adds', async () => {
  const restock: CustomOperation<Label> = {
    name: 'restock',
    route: { verb: 'POST', path: ':id/restock', status: 200 },
    description: {
      summary: 'Order a {one} again',
      text: 'From its maker.',
      parameters: { fast: { type: 'boolean' } },
      body: { type: 'object', properties: { pieces: { type: 'integer', minimum: 1 } }, required: ['pieces'] },
      data: 'record',
    },
    run: async ({ resource }, { id }) => (await resource.findById(id)).data,
  };
  const popular: CustomOperation<Label> = {
    name: 'popular',
    route: { verb: 'GET', path: 'popular' },
    description: { summary: 'List popular {tag}', data: 'records' },
    run: ({ find }) => find(),
  };
  const resources = [{ entity: Label, endpoint: '/labels', operations: [...standardOperations, restock, popular] }];
  const api = await apiOf({ resources });
  const found = (id: string) => api.operations.find(({ operationId }) => operationId === id);
  expect(found('restockLabel')).toMatchObject({
    method: 'POST',
    path: '/labels/{id}/restock',
    summary: 'Order a Label again',
    description: 'From its maker.',
    parameters: [
      { in: 'path', name: 'id', required: true },
      { in: 'query', name: 'fast', required: false, schema: { type: 'boolean' } },
    ],
    requestBody: {
      content: {
        'application/json': { schema: { required: ['pieces'] }, examples: { example: { value: { pieces: 1 } } } },
      },
    },
    tags: ['Labels'],
  });
  expect(Object.keys(found('restockLabel')?.responses ?? {})).toEqual(
    expect.arrayContaining(['200', '400', '404', '413', '415', '500']),
  );
  expect(found('popularLabels')).toMatchObject({
    method: 'GET',
    path: '/labels/popular',
    summary: 'List popular Labels',
  });
  const [service] = running;
  await service?.post('/labels', { text: 'new' });
  const answer = await service!.get('/labels/popular');
  expect(api.wrongWith(found('popularLabels')!, answer)).toEqual([]);
  expect(answer.json.data).toEqual([{ id: 1, text: 'new' }]);
});

describe('generated operations', () => {
  let service: CrudService;
  let api: DescribedApi;
  beforeAll(async () => {
    service = await startCrud('express', { entities: ENTITIES, resources });
    api = new DescribedApi(documentOf(service.app));
  });
  afterAll(() => service.close());

  it('have good method names, and a tag for each resource', () => {
    const described = api.operations.map(({ method, path, operationId, tags }) =>
      [method, path, operationId, ...tags].join(' '),
    );
    expect(described.filter((each) => /items|makers \w+ (AdminM|M)/.test(each) || each.includes('akers'))).toEqual(
      expect.arrayContaining([
        'GET /items listItems Items',
        'GET /items/search searchItems Items',
        'GET /items/count countItems Items',
        'GET /items/aggregate aggregateItems Items',
        'GET /items/export exportItems Items',
        'GET /items/{id} getItem Items',
        'GET /items/exists/{id} existsItem Items',
        'POST /items createItem Items',
        'POST /items/batch createItems Items',
        'PATCH /items/batch updateItems Items',
        'DELETE /items/batch deleteItems Items',
        'PUT /items/{id} replaceItem Items',
        'PATCH /items/{id} updateItem Items',
        'DELETE /items/{id} deleteItem Items',
        'POST /items/{id}/restore restoreItem Items',
        'GET /items/{itemId}/remarks listRemarks Remarks',
        'GET /makers listMakers Makers',
        'GET /admin/makers listAdminMakers AdminMakers',
        'PUT /admin/makers/{id} replaceAdminMaker AdminMakers',
      ]),
    );
    const ids = api.operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('have schemas named by entity, those of a second resource with a level of its endpoint', () => {
    const names = Object.keys(api.document.components?.schemas ?? {});
    expect(names).toEqual(
      expect.arrayContaining([
        'Item',
        'ItemCreate',
        'ItemReplace',
        'ItemPatch',
        'ItemPatchItem',
        'Maker',
        'AdminMaker',
      ]),
    );
  });

  it('have the parameters that the resource declares, and their limits', () => {
    const list = api.operation('listItems');
    expect(list.parameters.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'page',
        'size',
        'count',
        'after',
        'sort',
        'fields',
        'include',
        'fields[maker]',
        'deleted',
      ]),
    );
    expect(parameterOf(list, 'sort')?.schema).toEqual({
      type: 'array',
      items: { type: 'string', enum: ['title', '-title', 'price', '-price', 'seen', '-seen'] },
      maxItems: 8,
      uniqueItems: true,
    });
    const schemaOf = (name: string) => parameterOf(list, name)?.schema;
    expect(schemaOf('filter[state]')).toEqual({
      type: 'string',
      pattern: String.raw`^[^\u0000]*$`,
      examples: ['new', 'used', 'with, comma'],
    });
    expect(schemaOf('filter[state][icontains]')).toMatchObject({ minLength: 1, maxLength: 100 });
    expect(schemaOf('filter[state][in]')).toEqual({
      type: 'array',
      items: { type: 'string', pattern: String.raw`^(?:[^,\\\u0000]|\\,|\\(?!,))*$` },
      maxItems: 100,
    });
    expect(schemaOf('filter[price][between]')).toMatchObject({ type: 'array', minItems: 2, maxItems: 2 });
    expect(schemaOf('filter[stock][gte]')).toEqual({ type: 'integer' });
    expect(schemaOf('filter[serial]')).toEqual({ $ref: '#/components/schemas/Integer64' });
    expect(schemaOf('filter[weight][isNull]')).toEqual({ type: 'boolean' });
    for (const name of ['state][regex', 'active][gt', 'stock][isNull'])
      expect(parameterOf(list, `filter[${name}]`)).toBeUndefined();
    for (const { name } of list.parameters.filter(({ schema }) => schema['type'] === 'array'))
      expect(parameterOf(list, name)).not.toHaveProperty('style');
    expect(list.parameters.some(({ name }) => name === 'filter[notes]')).toBe(false);
    expect(parameterOf(api.operation('deleteItems'), 'ids')).toMatchObject({
      required: true,
      schema: { type: 'array', minItems: 1, maxItems: 5, uniqueItems: true },
    });
    expect(parameterOf(api.operation('updateItem'), 'If-Match')).toMatchObject({ in: 'header', required: false });
    expect(parameterOf(api.operation('updateLabel'), 'If-Match')).toBeUndefined();
  });

  it('have bodies with what each client may write', () => {
    const create = api.named('ItemCreate');
    expect(create['required']).toEqual(['title', 'price']);
    expect(create['additionalProperties']).toBe(false);
    const created = propertiesOf(api, 'ItemCreate');
    expect(created['title']).toEqual({ type: 'string', maxLength: 30, minLength: 2 });
    expect(created['stock']).toEqual({ type: 'integer', minimum: 0, maximum: 1000, default: 0 });
    expect(created['notes']).toMatchObject({ type: ['string', 'null'], description: 'Only EDITOR may write it.' });
    expect(created['secret']).toMatchObject({ writeOnly: true });
    expect(created['labelsIds']).toMatchObject({ type: 'array', maxItems: 100 });
    for (const name of ['id', 'createdAt', 'version', 'deletedAt']) expect(created).not.toHaveProperty(name);
    const replaced = propertiesOf(api, 'ItemReplace');
    expect(replaced['id']).toMatchObject({ readOnly: true, description: 'Set by the server; may be sent unchanged.' });
    expect(replaced['code']).toMatchObject({
      readOnly: true,
      description: 'Set when the record is created; may be sent unchanged.',
    });
    expect(api.named('ItemPatch')['required']).toBeUndefined();
    expect(api.named('ItemPatchItem')['required']).toEqual(['id']);
    expect(propertiesOf(api, 'RemarkCreate')).toMatchObject({
      text: { type: 'string' },
      itemId: { readOnly: true, description: 'As in the path.' },
    });
    expect(Object.keys(api.operation('updateItem').requestBody?.content ?? {})).toEqual([
      'application/json',
      'application/merge-patch+json',
    ]);
  });

  it('have records with what somebody may read', () => {
    const record = propertiesOf(api, 'Item');
    const created = propertiesOf(api, 'ItemCreate');
    expect(record).not.toHaveProperty('secret');
    expect(record['notes']).toMatchObject({ description: 'Only EDITOR read it.' });
    expect(record['size']).toMatchObject({ type: 'object', required: ['width', 'depth'] });
    expect(record['maker']).toMatchObject({ anyOf: [{ $ref: '#/components/schemas/Maker' }, { type: 'null' }] });
    expect(record['serial']).toEqual({ type: ['integer', 'string', 'null'] });
    expect(created['serial']).toEqual({ anyOf: [{ $ref: '#/components/schemas/Integer64' }, { type: 'null' }] });
    expect(record['made']).toMatchObject({ type: ['string', 'null'], format: 'date' });
    expect(api.named('Item')['required']).not.toEqual(expect.arrayContaining(['notes', 'deletedAt', 'maker']));
  });

  it('have every answer with its headers', () => {
    const statusesOf = (id: string): string[] => Object.keys(api.operation(id).responses);
    expect(statusesOf('createItem')).toEqual(['201', '400', '409', '413', '415', '500', '503']);
    expect(statusesOf('createRemark')).toContain('403');
    expect(statusesOf('getItem')).toEqual(['200', '304', '400', '404', '500', '503']);
    const { responses } = api.operation('createItem');
    expect(Object.keys(responses['201']?.headers ?? {})).toEqual(['Location', 'ETag']);
    expect(Object.keys(responses['503']?.headers ?? {})).toEqual(['Retry-After']);
    expect(Object.keys(api.operation('listItems').responses['200']?.headers ?? {})).toEqual(['X-Total-Count']);
    expect(api.operation('listAdminMakers').responses['200']?.headers).toBeUndefined();
  });

  it('have examples that their schemas allow, one for each body and each answer', () => {
    for (const { operationId, requestBody, responses } of api.operations) {
      const contents = [requestBody, ...Object.values(responses)].flatMap((each) =>
        Object.entries(each?.content ?? {}),
      );
      for (const [type, { schema, ...rest }] of contents.filter(([name]) => name.endsWith('json'))) {
        const { example, examples } = rest as { example?: unknown; examples?: { example?: { value?: unknown } } };
        const given = example ?? examples?.example?.value;
        const problems = given === undefined ? 'there is no example' : api.problems(schema, given);
        expect([operationId, type, given, problems]).toEqual([operationId, type, given, []]);
      }
    }
  });
});

it('a field that nobody reads is no filter, no sort and no group, as requests find', async () => {
  const secret = {
    entity: Label,
    endpoint: '/labels',
    filterableFields: true,
    sortableFields: ['id', 'text'],
    aggregatableFields: ['id', 'text'],
    fieldPermissions: { text: { read: 'never' } },
  } as const;
  const api = await apiOf({ resources: [secret] });
  const parameters = api.operations.flatMap((each) => each.parameters);
  expect(parameters.map(({ name }) => name).filter((name) => name.includes('text'))).toEqual([]);
  expect(JSON.stringify(parameters.filter(({ name }) => ['sort', 'groupBy'].includes(name)))).not.toContain('text');
  expect((await running[0]!.get('/labels?filter[text]=x')).status).toBe(400);
  expect((await running[0]!.get('/labels?sort=text')).status).toBe(400);
});

it('a word that is its own plural names operations for one record and for many', async () => {
  const api = await apiOf({ entities: [News], resources: [{ entity: News, endpoint: '/news', enableBatch: true }] });
  const ids = api.operations.map(({ operationId }) => operationId);
  expect(ids.toSorted()).toEqual([
    'createManyNews',
    'createNews',
    'deleteManyNews',
    'deleteNews',
    'getNews',
    'listManyNews',
    'replaceNews',
    'updateManyNews',
    'updateNews',
  ]);
  expect(api.operation('listManyNews').tags).toEqual(['News']);
});

it('an entity without a resource, which two resources include, has its own name and takes null', async () => {
  const entities = [Author, Poem, Novel];
  const resources = [Poem, Novel].map((entity) => ({
    entity,
    endpoint: `/${entity.name.toLowerCase()}s`,
    includableRelations: ['author'],
  }));
  const api = await apiOf({ entities, resources: [...resources, { entity: Author, endpoint: '/authors' }] });
  const { readers } = propertiesOf(api, 'AuthorCreate');
  expect(api.problems(readers as Schema, null)).toEqual([]);
  const alone = await apiOf({ entities, resources });
  expect(propertiesOf(alone, 'Poem')['author']).toMatchObject({ anyOf: [{ $ref: '#/components/schemas/Author' }, {}] });
});

describe.each(DATABASES)('types on %s', (database) => {
  it('are those of the driver', async () => {
    const api = await apiOf({ database, entities: [Price], resources: [{ entity: Price, endpoint: '/prices' }] });
    expect(propertiesOf(api, 'Price')['amount']).toEqual({ type: 'string' });
    expect(propertiesOf(api, 'PriceCreate')['amount']).toMatchObject({
      anyOf: [{ type: 'number' }, { type: 'string' }],
    });
  });
});

describe('createDocument', () => {
  it('has everything before app.init() too, and again when the application starts again', async () => {
    const database = await createDatabase('sqlite');
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...database.options, entities: ENTITIES, autoLoadEntities: false }),
        CrudModule.forFeature({ entity: Maker, endpoint: '/makers' }),
        CrudModule.forFeature({ entity: Label, endpoint: '/labels', enablePagination: true }),
      ],
    })
    class Root {}
    const documents: unknown[] = [];
    for (let start = 0; start < 2; start += 1) {
      const app = await NestFactory.create(Root, { logger: false });
      documents.push(documentOf(app));
      await app.init();
      documents.push(documentOf(app));
      await app.close();
    }
    const [first, ...others] = documents as ReturnType<typeof documentOf>[];
    expect(first?.components?.schemas).toHaveProperty('LabelCreate');
    for (const other of others) expect(other).toEqual(first);
    await database.drop();
  });

  it('has everything before app.init() when data sources connect one after the other', async () => {
    const databases = [await createDatabase('sqlite'), await createDatabase('sqlite')] as const;
    const [first, second] = databases.map(({ options }) => ({
      ...options,
      entities: ENTITIES,
      autoLoadEntities: false,
    }));
    const connectLate = async (options?: DataSourceOptions) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return new DataSource(options as DataSourceOptions).initialize();
    };
    @Module({
      imports: [
        TypeOrmModule.forRoot(first as TypeOrmModuleOptions),
        TypeOrmModule.forRootAsync({
          name: 'late',
          useFactory: () => second as TypeOrmModuleOptions,
          dataSourceFactory: connectLate,
        }),
        CrudModule.forFeature({ entity: Label, endpoint: '/late', dataSource: 'late' }),
        CrudModule.forFeature({ entity: Maker, endpoint: '/makers' }),
      ],
    })
    class Root {}
    const app = await NestFactory.create(Root, { logger: false });
    const schemas = documentOf(app).components?.schemas;
    expect([schemas?.['LabelCreate'], schemas?.['MakerCreate']]).toEqual([expect.anything(), expect.anything()]);
    await app.close();
    for (const database of databases) await database.drop();
  });

  it('describes controllers in plain modules when the application is initialised', async () => {
    const api = await apiOf({ controllers: [CrudController({ entity: Label, endpoint: '/labels' }) as Type] });
    expect(api.operation('listLabels').tags).toEqual(['Labels']);
  });
});

describe('overrides', () => {
  it('keep what they inherit, unless their own decorators say otherwise', async () => {
    class LabelsController extends CrudController({ entity: Label, endpoint: '/labels', enablePagination: true }) {
      @Get()
      @ApiOperation({ summary: 'Labels of today' })
      @ApiQuery({ name: 'size', description: 'At most 10.', required: true, type: Number })
      @ApiResponse({ status: 418, description: 'No labels today' })
      override findAll(query: never) {
        return super.findAll(query);
      }

      @Put(':key')
      override update(id: string, body: never) {
        return super.update(id, body);
      }

      @Get('own/word')
      ownWord() {
        return {};
      }
    }
    const api = await apiOf({ resources: [LabelsController as never] });
    const list = api.operation('listLabels') as Described & { readonly summary: string };
    expect(list.summary).toBe('Labels of today');
    expect(parameterOf(list, 'size')).toMatchObject({ description: 'At most 10.', required: true });
    expect(parameterOf(list, 'page')).toBeDefined();
    expect(Object.keys(list.responses)).toEqual(expect.arrayContaining(['200', '400', '418']));
    const replace = api.operation('replaceLabel');
    expect([replace.path, replace.parameters.map(({ name }) => name)]).toEqual(['/labels/{key}', ['key']]);
    expect(api.operation('LabelsController_ownWord').tags).toEqual(['Labels']);
  });

  it('of the tag of the class, and controllers written by hand, are left as they are', async () => {
    @ApiTags('Words')
    class LabelsController extends CrudController({ entity: Label, endpoint: '/labels' }) {}
    @Controller('hand')
    class HandController {
      @Get()
      written() {
        return {};
      }
    }
    const api = await apiOf({ resources: [LabelsController as never], controllers: [HandController] });
    expect(api.operation('listLabels').tags).toEqual(['Words']);
    const { operationId, parameters, responses } = api.operation('HandController_written');
    expect([operationId, parameters, responses]).toEqual(['HandController_written', [], { 200: { description: '' } }]);
  });
});

it('has null beside the schema of an enum, where every generator finds it', async () => {
  @Entity()
  class Ticket {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ type: 'simple-enum', enum: ['low', 'high'], nullable: true }) priority!: string | null;
  }
  const api = await apiOf({ entities: [Ticket], resources: [{ entity: Ticket, endpoint: '/tickets' }] });
  const priority = { anyOf: [{ type: 'string', enum: ['low', 'high'] }, { type: 'null' }] };
  for (const name of ['Ticket', 'TicketCreate', 'TicketPatch'])
    expect([name, propertiesOf(api, name)['priority']]).toEqual([name, priority]);
});

it('has the defaults of columns in bodies that create or replace, as clients know them', async () => {
  const percent = { to: (value: number) => value * 100, from: (value: number) => value / 100 };
  @Entity()
  class Draft {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ default: 'DRAFT' }) state!: string;
    @Column({ type: 'simple-enum', enum: ['low', 'high'], default: 'low', nullable: true }) priority!: string | null;
    @Column({ type: 'date', default: '2026-01-31' }) due!: string;
    @Column({ type: 'integer', default: 3 }) copies!: number;
    // SQLite reads the number in the text.
    @Column({ type: 'double', default: '0.5' }) weight!: number;
    // A date that only PostgreSQL reads.
    @Column({ type: 'date', default: 'today' }) since!: string;
    @Column({ type: 'integer', default: 150, transformer: percent }) share!: number;
  }
  const resources = [{ entity: Draft, endpoint: '/drafts', enableBatch: true }];
  const api = await apiOf({ entities: [Draft], resources });
  const defaultsOf = (name: string) =>
    Object.entries(propertiesOf(api, name)).flatMap(([field, schema]) =>
      'default' in schema ? [[field, schema['default']]] : [],
    );
  const known = { state: 'DRAFT', priority: 'low', due: '2026-01-31', copies: 3 };
  for (const name of ['DraftCreate', 'DraftReplace'])
    expect([name, Object.fromEntries(defaultsOf(name))]).toEqual([name, known]);
  // A generated client would send them with each change.
  for (const name of ['DraftPatch', 'DraftPatchItem']) expect([name, defaultsOf(name)]).toEqual([name, []]);
});

it('says when a request with a running Idempotency-Key may be repeated', async () => {
  const api = await apiOf({
    entities: [Label, IdempotencyKey],
    resources: [{ entity: Label, endpoint: '/labels', enableIdempotency: true }],
    imports: [authModule({ defaultAccess: 'public' })],
  });
  const headersOf = (id: string) => Object.keys(api.operation(id).responses['409']?.headers ?? {});
  expect([headersOf('createLabel'), headersOf('updateLabel')]).toEqual([['Retry-After'], []]);
});

it('requires linked ids, unless another resource includes the record, which has none there', async () => {
  const items = { entity: Item, endpoint: '/items', linkableRelations: ['labels'] } as const;
  const makers = { entity: Maker, endpoint: '/makers', includableRelations: ['items'] } as const;
  const required: unknown[] = [];
  for (const resources of [[items], [items, makers]] as CrudResource[][])
    required.push((await apiOf({ resources })).named('Item')['required']);
  expect(required).toEqual([expect.arrayContaining(['labelsIds']), expect.not.arrayContaining(['labelsIds'])]);
});

it('allows every form of an integer of 64 bits, and gives examples of short texts that fit', async () => {
  @Entity()
  class Parcel {
    @PrimaryColumn('bigint') id!: string;
    @Column({ type: 'bigint', default: 0 }) weight!: string;
    @Column({ length: 3 }) code!: string;
  }
  const api = await apiOf({ entities: [Parcel], resources: [{ entity: Parcel, endpoint: '/parcels' }] });
  const [id] = api.operation('getParcel').parameters;
  const known = [1, '9223372036854775807'].map((value) => api.problems(id!.schema, value));
  expect(known).toEqual([[], []]);
  expect(api.problems(id!.schema, 2 ** 53)).not.toEqual([]);
  expect(propertiesOf(api, 'ParcelCreate')['weight']).toEqual({ $ref: '#/components/schemas/Integer64', default: 0 });
  const { example } = api.operation('createParcel').requestBody!.content['application/json']!.examples as {
    readonly example: { readonly value: object };
  };
  expect(example.value).toEqual({ id: 1, code: 'tex' });
});

describe('the endpoints of authentication', () => {
  @Entity()
  class Member extends AuthUser {
    @Column({ length: 20 })
    phone!: string;
  }

  it('are described with the fields of the application', async () => {
    const auth = AuthModule.forRoot({
      userClass: Member,
      loginMethod: LoginMethod.USERNAME,
      registrationFields: ['phone'],
      bcryptRounds: 4,
    });
    const api = await apiOf({ entities: [...ENTITIES, Member], imports: [auth] });
    const paths = api.operations.map(({ method, path, operationId, tags }) =>
      [method, path, operationId, ...tags].join(' '),
    );
    expect(paths).toEqual([
      'POST /api/auth/register register Auth',
      'POST /api/auth/login login Auth',
      'GET /api/auth/me getCurrentUser Auth',
    ]);
    expect(api.named('Registration')).toMatchObject({
      required: ['username', 'password', 'phone'],
      additionalProperties: false,
    });
    expect(propertiesOf(api, 'Registration')['phone']).toEqual({ type: 'string', maxLength: 20 });
    expect(propertiesOf(api, 'Registration')['email']).toMatchObject({ type: ['string', 'null'], format: 'email' });
    expect(api.named('Credentials')['required']).toEqual(['username', 'password']);
    const sent = { username: 'ann', password: 'correct horse', phone: '12' };
    expect(api.problems(api.named('Registration'), sent)).toEqual([]);
    const [service] = running;
    for (const [path, json] of [
      ['register', sent],
      ['register', sent],
      ['register', { ...sent, role: 'ADMIN' }],
      ['login', sent],
      ['login', { ...sent, password: 'wrong password' }],
    ] as const) {
      const answer = await service!.post(`/api/auth/${path}`, json);
      expect(api.wrongWith(api.operation(path), answer)).toEqual([]);
    }
    const anonymous = await service!.get('/api/auth/me');
    expect(api.wrongWith(api.operation('getCurrentUser'), anonymous)).toEqual([]);
  });

  it('have no registration where it is off', async () => {
    const auth = AuthModule.forRoot({ userClass: Member, registration: false });
    const api = await apiOf({ entities: [...ENTITIES, Member], imports: [auth] });
    expect(api.operations.map(({ operationId }) => operationId)).toEqual(['login', 'getCurrentUser']);
  });
});
