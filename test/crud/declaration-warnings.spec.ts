/** Declarations that start, and do not do what they say: a warning or a refusal at startup. */
import { Body, Delete, Get, Param, Post, Put, type Type } from '@nestjs/common';
import {
  AuthModule,
  AuthUser,
  CrudController,
  CrudModule,
  type CrudOptions,
  type CrudResource,
  CurrentUser,
  type HookValues,
  IdempotencyKey,
  type JsonObject,
  type ListQuery,
  type Principal,
  SecurityConfig,
  UserAccounts,
} from 'declarest';
import { Column, DeleteDateColumn, Entity, Index, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import { linesOf } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { crudError, type CrudParts, startCrud } from './service.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

const tags: CrudOptions<Tag> = { entity: Tag, endpoint: '/api/tags', enablePagination: true };

class TagScope {
  scope(): boolean {
    return true;
  }
}

const warningsOf = async (controllers: Type[], entities: Type[] = [Tag]): Promise<string[]> => {
  const service = await startCrud('express', { entities, controllers, path: 'compiled' });
  const lines = linesOf(service.logs, 'warn').map((line) => line.replace('warn [CrudModule] ', ''));
  await service.close();
  return lines;
};

const refusalOf = async (...controllers: Type[]): Promise<string> =>
  (await crudError('express', { entities: [Tag], controllers })).message;

it('[4.7] warns once of more than five overrides without a route, and of more than five unknown hooks', async () => {
  const controllers = Array.from({ length: 8 }, (_, index) => {
    const base = CrudController({ ...tags, endpoint: `/api/tags${index}` });
    return class Tags extends base {
      override findAll(query: ListQuery) {
        return super.findAll(query);
      }
      beforeSave(): void {}
    };
  });
  const lines = (await warningsOf(controllers)).filter((line) => line.startsWith('Tags.'));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('Tags.findAll overrides a generated operation but has no route.');
  expect(lines[1]).toContain('Tags.beforeSave is not a hook');
  for (const line of lines) expect(line).toMatch(/ The same is true of 3 more\.$/);
  expect(lines[1]?.split('is not a hook')).toHaveLength(6);
});

describe('methods of a subclass', () => {
  it('refuses another method on the path of a generated operation', async () => {
    class Tags extends CrudController(tags) {
      @Post()
      add(@Body() body: object) {
        return body;
      }
    }
    expect(await refusalOf(Tags)).toContain('got POST /api/tags, which another route has');
  });

  it('refuses another method on the path of a record', async () => {
    class Tags extends CrudController(tags) {
      @Get(':key')
      one(@Param('key') key: string) {
        return key;
      }
    }
    expect(await refusalOf(Tags)).toContain('got GET /api/tags/:key, which another route has');
  });

  it('refuses a route on a hook', async () => {
    class Tags extends CrudController(tags) {
      @Post('new')
      override beforeCreate(values: HookValues<Tag>) {
        return values;
      }
    }
    expect(await refusalOf(Tags)).toBe(
      "Tags.beforeCreate must be a hook without a route, got @Post('new'). Remove the decorator.",
    );
  });

  it('warns of methods that are named like hooks', async () => {
    class Tags extends CrudController(tags) {
      beforeSave(): void {}
      afterInsert(): void {}
      beforeApplicationShutdown(): void {}
      override beforeCreate(): void {}
      @Get('after/noon')
      afterNoon(): void {}
    }
    expect(await warningsOf([Tags])).toEqual(
      ['beforeSave', 'afterInsert'].map(
        (name) =>
          `Tags.${name} is not a hook, so that no generated operation calls it. Use a hook (beforeCreate, beforeUpdate, ` +
          'beforeDelete, whenCreated, whenUpdated, whenDeleted, whenRestored, afterCreate, afterUpdate, afterDelete), or rename the method.',
      ),
    );
  });
});

describe('options', () => {
  it.each<[string, Partial<CrudOptions<Tag>>, string]>([
    [
      'search beside operations without it',
      { enableSearch: true, searchableFields: ['name'], operations: ['findAll'] },
      '`enableSearch` of Tag must be used with search in `operations`, got `operations` without search. Add search, or leave ' +
        'enableSearch out.',
    ],
    [
      'batches beside operations without them',
      { enableBatch: true, operations: ['findAll'] },
      '`enableBatch` of Tag must be used with createMany or patchMany or deleteMany in `operations`, got `operations` ' +
        'without createMany or patchMany or deleteMany. Add createMany or patchMany or deleteMany, or leave enableBatch out.',
    ],
    [
      'aggregatable fields beside operations without them',
      { aggregatableFields: ['name'], operations: ['findAll'] },
      '`aggregatableFields` of Tag must be used with aggregate in `operations`',
    ],
    [
      'searchable fields without search',
      { searchableFields: ['name'] },
      '`searchableFields` of Tag must be used together with enableSearch, got no enableSearch. Set enableSearch or leave ' +
        'searchableFields out.',
    ],
    [
      'maxBatchSize without batches',
      { maxBatchSize: 5 },
      '`maxBatchSize` of Tag must be used together with enableBatch',
    ],
    [
      'maxIncluded without included relations',
      { maxIncluded: 5 },
      '`maxIncluded` of Tag must be used together with includableRelations',
    ],
    [
      'maxListSize beside pages',
      { maxListSize: 5 },
      '`maxListSize` of Tag must be used without enablePagination, whose pages have a size, got both. ' +
        'Leave one of the two out.',
    ],
    [
      'maxListSize without lists',
      { maxListSize: 5, enablePagination: false, operations: ['findById'] },
      '`maxListSize` of Tag must be used with findAll or search in `operations`, got `operations` without findAll or search. Leave ' +
        'maxListSize out.',
    ],
    [
      'roles that nobody has',
      { fieldPermissions: { name: { read: [] } } },
      'each "never" or an array of at least one role',
    ],
    [
      'writers that nobody is',
      { fieldPermissions: { name: { write: [] } } },
      'each "never" or an array of at least one role',
    ],
    [
      'a scope class without useScope',
      { scope: TagScope as never },
      '`scope` of Tag must be a function or useScope(…), got a class. Write scope: useScope(TagScope).',
    ],
  ])('refuses %s', (_what, options, sentence) => {
    expect(() => CrudController({ ...tags, ...options })).toThrow(sentence);
  });

  it.each<[string, Partial<CrudOptions<Tag>>]>([
    ['one of three batches', { enableBatch: true, operations: ['findAll', 'deleteMany'] }],
    ['empty lists and switches that are off', { searchableFields: [], enableExists: false, operations: ['findAll'] }],
    ['a bounded list', { enablePagination: false, maxListSize: 5 }],
  ])('accepts %s', (_what, options) => {
    expect(() => CrudController({ ...tags, ...options })).not.toThrow();
  });
});

describe('overrides', () => {
  class Everything extends CrudController({
    ...tags,
    enableSearch: true,
    searchableFields: ['name'],
    enableCount: true,
    enableExport: true,
    enableBatch: true,
  }) {
    @Get()
    override findAll(query: ListQuery) {
      return super.findAll(query);
    }

    @Post()
    override create(body: JsonObject) {
      return super.create(body);
    }

    @Put(':id')
    override update(id: string, body: JsonObject) {
      return super.update(id, body);
    }

    @Delete(':id')
    override delete(id: string, query: ListQuery) {
      return super.delete(id, query);
    }
  }

  it('warns of operations that an override does not run for', async () => {
    const advice = 'override them too, or leave them out of `operations`.';
    expect(await warningsOf([Everything])).toEqual([
      `Everything.findAll does not run for search, count, export. Use a scope, ${advice}`,
      `Everything.create does not run for createMany. Use the hook beforeCreate, ${advice}`,
      `Everything.update does not run for patch, patchMany. Use the hook beforeUpdate, ${advice}`,
      `Everything.delete does not run for deleteMany. Use the hook beforeDelete, ${advice}`,
    ]);
  });

  it('warns of a parameter that no request sets', async () => {
    class Tags extends CrudController(tags) {
      @Get(':id')
      override findById(id: string, query: ListQuery, user?: Principal) {
        return super.findById(id, { ...query, ...(user && {}) });
      }

      @Delete(':id')
      override delete(id: string, query: ListQuery, @CurrentUser() _user?: Principal) {
        return super.delete(id, query);
      }
    }
    expect(await warningsOf([Tags])).toEqual([
      'Tags.findById has a parameter without a decorator, number 3, which no request sets. Decorate it, for example with ' +
        '@CurrentUser().',
    ]);
  });

  it('warns of a subclass that is not registered while its options are', async () => {
    @Entity()
    class Hat extends Tag {}
    const hats: CrudOptions<Hat> = { entity: Hat, endpoint: '/api/hats', enablePagination: true };
    class Hats extends CrudController(hats) {}
    const start = async (resource: CrudResource): Promise<string[]> => {
      const service = await startCrud('express', { entities: [Hat], resources: [resource], path: 'compiled' });
      await service.close();
      return linesOf(service.logs, 'warn');
    };
    expect(await start(Hats)).toEqual([]);
    expect(await start(hats)).toEqual([
      'warn [CrudModule] No module registers the class that extends CrudController({ entity: Hat, endpoint: "/api/hats" ' +
        '}), but its options are registered. Give CrudModule.forFeature the class instead.',
    ]);
  });

  it('does not warn where the other operations are left out or overridden', async () => {
    class Tags extends CrudController({ ...tags, enableCount: true, operations: ['findAll', 'count', 'update'] }) {
      @Get()
      override findAll(query: ListQuery) {
        return super.findAll(query);
      }

      @Get('count')
      override count(query: ListQuery) {
        return super.count(query);
      }

      @Put(':id')
      override update(id: string, body: JsonObject) {
        return super.update(id, body);
      }
    }
    expect(await warningsOf([Tags])).toEqual([]);
  });
});

@Entity()
class Shelf {
  @PrimaryGeneratedColumn() id!: number;
  @OneToMany(() => Book, ({ shelf }) => shelf) books!: Book[];
}

@Entity()
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'decimal', default: 1 }) price!: string;
  @Column({ type: 'float', default: 1 }) weight!: number;
  @Column({ type: 'boolean', default: true }) isNew!: boolean;
  @Column({ type: 'int' }) ownerId!: number;
  @ManyToOne(() => Shelf, ({ books }) => books) shelf!: Shelf;
}

@Entity()
class Page {
  @PrimaryGeneratedColumn() id!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
  @Index() @ManyToOne(() => Book) book!: Book;
  @Index() @Column({ type: 'int' }) ownerId!: number;
}

@Entity()
class Reader extends AuthUser {}

@Entity()
class Member {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ length: 36 }) ownerId!: string;
}

const books: CrudOptions<Book> = { entity: Book, endpoint: '/books', enablePagination: true };
const bookWarnings = (options: Partial<CrudOptions<Book>>, ...more: Type[]): Promise<string[]> =>
  warningsOf([CrudController({ ...books, ...options }), ...more], [Book, Shelf, Page]);

describe('columns', () => {
  it('names the columns to index in one line', async () => {
    const shelves = CrudController<Shelf>({
      entity: Shelf,
      endpoint: '/shelves',
      enablePagination: true,
      includableRelations: ['books'],
      filterableFields: ['books.title'],
    });
    const nested = CrudController<Book>({ ...books, endpoint: '/shelves/:shelfId/books' });
    const pages = CrudController<Page>({
      entity: Page,
      endpoint: '/books/:bookId/pages',
      enablePagination: true,
      owner: { field: 'ownerId', reads: true },
    });
    const line = 'Lookups by columns without an index: Book.ownerId, Book.shelf. Decorate them with @Index().';
    const owner = { field: 'ownerId', reads: true } as const;
    expect(await bookWarnings({ owner }, shelves, pages)).toEqual([line]);
    expect(await bookWarnings({ owner }, nested)).toEqual([line]);
    expect(await bookWarnings({ owner: 'ownerId' }, pages)).toEqual([]);
  });

  it.each(['price', 'weight', 'isNew', 'title'] as const)(
    'refuses the owner %s, which no id of a user fits',
    async (owner) => {
      const controllers = [CrudController({ ...books, owner })];
      const { message } = await crudError('express', { entities: [Book, Shelf, Reader], controllers });
      expect(message).toMatch(
        /^CRUD option `owner` of Book must be fields among ownerId, shelfId, got "\w+"\. Name the column that holds the id of the user and has its type, such as `ownerId`\.$/,
      );
    },
  );

  it('refuses an owner that is no id, without a class of users', async () => {
    const controllers = [CrudController({ ...books, owner: 'price' })];
    const { message } = await crudError('express', { entities: [Book, Shelf], controllers });
    expect(message).toContain('must be fields among title, ownerId, shelfId, got "price"');
  });

  it('says that no column has the type of the id of users, where an owner names another one', async () => {
    const controllers = [CrudController({ entity: Member, endpoint: '/members', maxListSize: 9, owner: 'ownerId' })];
    const { message } = await crudError('express', { entities: [Member, Reader], controllers });
    expect(message).toBe(
      "CRUD option `owner` of Member must be a field with the type of the user's id (integer), which none has, got " +
        '"ownerId". Name the column that holds the id of the user and has its type, such as `ownerId`.',
    );
  });

  it('warns of a required column that nothing can set', async () => {
    const fieldPermissions = { title: { write: 'never' } } as const;
    const options = { ...books, fieldPermissions };
    expect(await bookWarnings(options)).toEqual([
      'No POST to /books can set the required Book.title. Set it in beforeCreate, give the column a default, or leave ' +
        'create out of `operations`.',
    ]);
    class Books extends CrudController(options) {
      override beforeCreate() {
        return { title: 'new' };
      }
    }
    expect(await warningsOf([Books], [Book, Shelf])).toEqual([]);
    expect(await bookWarnings({ ...options, operations: ['findAll', 'update'] })).toEqual([]);
  });

  it('warns of a schema for POST alone', async () => {
    const schema = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const;
    expect(await bookWarnings({ validationSchema: { create: schema } })).toEqual([
      '`validationSchema` of Book does not check update, patch. Give `update` a schema too, or leave them out of ' +
        '`operations`.',
    ]);
    expect(await bookWarnings({ validationSchema: { create: schema, update: schema } })).toEqual([]);
    expect(await bookWarnings({ validationSchema: { create: schema }, operations: ['create'] })).toEqual([]);
  });
});

describe('with AuthModule', () => {
  class Rules extends SecurityConfig {
    override configure(): void {
      this.requireRole('EDITOR', 'PUT /books/*');
      this.publicEndpoints('POST /books');
    }
  }
  const authParts = (options: Partial<CrudOptions<Book>>, strict = false): CrudParts => ({
    entities: [Reader, Book, Shelf, IdempotencyKey],
    imports: [
      AuthModule.forRoot({
        userClass: Reader,
        jwtSecret: TEST_SECRET,
        bcryptRounds: 4,
        defaultAccess: 'authenticated',
        strict,
      }),
      CrudModule.forFeature({ ...books, operations: ['create', 'update'], ...options }),
    ],
    providers: [Rules],
  });
  const rulesWarnings = async (options: Partial<CrudOptions<Book>>): Promise<string[]> => {
    const service = await startCrud('express', authParts(options));
    await service.close();
    return linesOf(service.logs, 'warn').filter((line) => /SecurityRules(?!.*No rule matches)/.test(line));
  };

  it.each<[string, Partial<CrudOptions<Book>>]>([
    ['fieldPermissions', { fieldPermissions: { price: { write: ['Editor'] } } }],
    ['readers in fieldPermissions', { fieldPermissions: { price: { read: ['Editor'] } } }],
    ['owner', { owner: { field: 'ownerId', except: ['Editor'] } }],
  ])('warns of a role of %s that differs in case from that of a rule', async (_what, options) => {
    const sentence = 'The roles EDITOR and Editor differ only in case. Roles compare exactly: use one spelling.';
    expect(await rulesWarnings(options)).toEqual([`warn [SecurityRules] ${sentence}`]);
    expect((await crudError('express', authParts(options, true))).message).toContain(sentence);
  });

  it('refuses operations beside their overrides with strict', async () => {
    class Books extends CrudController({ ...books, enableCount: true, operations: ['findAll', 'count'] }) {
      @Get()
      override findAll(query: ListQuery) {
        return super.findAll(query);
      }
    }
    class Closed extends SecurityConfig {
      override configure(): void {
        this.requireAuth('/**');
      }
    }
    const of = (strict: boolean): CrudParts => {
      const { imports = [], ...parts } = authParts({}, strict);
      return { ...parts, imports: imports.slice(0, 1), controllers: [Books], providers: [Closed] };
    };
    expect((await crudError('express', of(true))).message).toBe(
      'Books.findAll does not run for count. Use a scope, override them too, or leave them out of `operations`. The ' +
        'option `strict` refuses this.',
    );
    await (await startCrud('express', of(false))).close();
  });

  it('warns of idempotent requests that the rules let in without a user', async () => {
    expect(await rulesWarnings({})).toEqual([]);
    expect(await rulesWarnings({ enableIdempotency: true })).toEqual([
      'warn [SecurityRules] POST /books is public, but enableIdempotency of Book requires a user. Restrict the route, or ' +
        'remove the option.',
    ]);
  });

  it('warns when a user gets a role that nothing names', async () => {
    const service = await startCrud('express', authParts({ fieldPermissions: { price: { write: ['BUYER'] } } }));
    const accounts = service.app.get(UserAccounts, { strict: false });
    const { id } = await accounts.create({ email: 'ann@x.example', password: 'long enough 1' });
    const before = service.logs.length;
    for (const role of ['EDITOR', 'BUYER', 'USER', 'EDITORS']) await accounts.setRole(id, role);
    for (const role of ['EDITOR', 'BUYERS'])
      await accounts.ensure({ email: `${role}@x.example`, password: 'long enough 1', role });
    expect(service.logs.slice(before)).toEqual([
      'warn [AuthModule] No rule or option names the role "EDITORS". Correct the role.',
      'warn [AuthModule] No rule or option names the role "BUYERS". Correct the role.',
    ]);
    await service.close();
  });

  describe('rules beside their copies', () => {
    const warningsFor = async (configure: (rules: Open) => void, strict = false): Promise<string[]> => {
      class BookRules extends Open {
        override configure(): void {
          configure(this);
        }
      }
      const { name } = BookRules;
      const parts = authParts({}, strict);
      const [auth] = parts.imports!;
      const resources = CrudModule.forFeature(
        {
          ...books,
          enableSearch: true,
          searchableFields: ['title'],
          enableCount: true,
          enableExport: true,
          aggregatableFields: ['price'],
          enableBatch: true,
        },
        { entity: Page, endpoint: '/books/:bookId/pages', enablePagination: true },
        { entity: Page, endpoint: '/pages', enablePagination: true, enableRestore: true },
      );
      const declared = {
        ...parts,
        entities: [Reader, Book, Shelf, Page],
        imports: [auth!, resources],
        providers: [BookRules],
      };
      if (strict) return [(await crudError('express', declared)).message];
      const service = await startCrud('express', declared);
      await service.close();
      const lines = linesOf(service.logs, 'warn').filter((line) => line.includes(' but not '));
      return lines.map((line) => line.replace(`warn [SecurityRules] ${name}.`, ''));
    };
    class Open extends SecurityConfig {
      override configure(): void {}
      admin(...patterns: string[]): void {
        this.requireRole('ADMIN', ...patterns);
      }
    }

    it('names the copies of a list', async () => {
      const line =
        'requireRole("ADMIN", "GET /books") restricts GET /books but not GET /books/search, GET /books/count, GET ' +
        '/books/aggregate, GET /books/export. Restrict "GET /books/search", "GET /books/count", "GET /books/aggregate", ' +
        '"GET /books/export" too, or declare a rule of its own for it.';
      expect(await warningsFor((rules) => rules.admin('GET /books'))).toEqual([line]);
      expect((await warningsFor((rules) => rules.admin('GET /books'), true))[0]).toContain(line);
      expect(await warningsFor((rules) => rules.admin('GET /books/**'))).toEqual([]);
    });

    it('advises patterns that silence it', async () => {
      const advised = ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /books/**`);
      expect(await warningsFor((rules) => rules.admin('DELETE /books/*', ...advised))).toEqual([]);
    });

    it('names nested resources', async () => {
      expect(await warningsFor((rules) => rules.admin('DELETE /books/*'))).toEqual([
        'requireRole("ADMIN", "DELETE /books/*") restricts DELETE /books/:id but not POST /books/:bookId/pages, PUT ' +
          '/books/:bookId/pages/:id, PATCH /books/:bookId/pages/:id, DELETE /books/:bookId/pages/:id. Restrict "POST ' +
          '/books/**", "PUT /books/**", "PATCH /books/**", "DELETE /books/**" too, or declare a rule of its own for it.',
      ]);
    });

    it('names the batches beside one record', async () => {
      const [line, ...others] = await warningsFor((rules) => rules.admin('PATCH /books/5'));
      expect(others).toEqual([]);
      expect(line).toMatch(
        /^requireRole\("ADMIN", "PATCH \/books\/5"\) restricts PATCH \/books\/5 but not PATCH \/books\/batch, /,
      );
      expect(line).toContain('Restrict "PATCH /books/batch", ');
    });

    it('names the restoring of deleted records', async () => {
      expect(await warningsFor((rules) => rules.admin('DELETE /pages/*'))).toEqual([
        'requireRole("ADMIN", "DELETE /pages/*") restricts DELETE /pages/:id but not POST /pages/:id/restore. Restrict ' +
          '"POST /pages/**" too, or declare a rule of its own for it.',
      ]);
    });
  });
});

it('names a duplicate id of a batch', async () => {
  const service = await startCrud('express', { entities: [Tag], resources: [{ ...tags, enableBatch: true }] });
  const { json } = await service.send('DELETE', '/api/tags/batch?ids=7,7');
  expect(json).toMatchObject({ errors: [{ message: 'duplicate id 7' }] });
  await service.close();
});
