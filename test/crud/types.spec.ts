/** What TypeScript accepts of a declaration. The type check of the tests reads it; at run time it only has to load. */
import { Body, Controller, Get, Post } from '@nestjs/common';
import {
  AuthUser,
  type BatchResult,
  CrudController,
  CrudModule,
  type CrudOptions,
  type CrudRecord,
  type Envelope,
  type FieldName,
  type HookContext,
  type HookValues,
  type JsonObject,
  type ListQuery,
} from 'declarest';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';

class Address {
  @Column()
  city!: string;
}

@Entity()
class Author {
  @PrimaryGeneratedColumn()
  id!: number;

  @OneToMany(() => Article, ({ author }) => author)
  articles!: Article[];
}

@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  title!: string;

  @Column({ nullable: true })
  publishedAt?: Date;

  @Column(() => Address)
  address!: Address;

  @Column('simple-json')
  tags!: string[];

  @ManyToOne(() => Author)
  author!: Author;

  @ManyToOne(() => Author)
  editor!: Promise<Author | null>;

  shout(): string {
    return this.title.toUpperCase();
  }
}

const base: CrudOptions<Article> = { entity: Article, endpoint: '/api/articles' };
class Articles extends CrudController(base) {}
const types = (declare: () => unknown): unknown => declare;

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(...proof: T[]): unknown => proof;

it('[1] types the fields of options by the entity', () => {
  isTrue<
    Equal<
      FieldName<Article>,
      'id' | 'title' | 'publishedAt' | 'address' | 'address.city' | 'tags' | 'authorId' | 'editorId'
    >
  >();
  types(() => CrudController({ entity: Article, endpoint: '/a', searchableFields: ['title', 'address.city'] }));
  types(() => CrudModule.forFeature({ entity: Article, endpoint: '/a', searchableFields: ['title'] }));
  // @ts-expect-error a misspelt field
  types(() => CrudController({ entity: Article, endpoint: '/a', searchableFields: ['titel'] }));
  types(() =>
    CrudModule.forFeature({ entity: Author, endpoint: '/b' }, Articles, {
      entity: Article,
      endpoint: '/a',
      searchableFields: ['title'],
    }),
  );
  // @ts-expect-error a misspelt field
  types(() => CrudModule.forFeature({ entity: Article, endpoint: '/a', searchableFields: ['titel'] }));
  // @ts-expect-error a misspelt field of the second resource
  types(() => CrudModule.forFeature(Articles, { entity: Article, endpoint: '/a', searchableFields: ['titel'] }));
  // @ts-expect-error a relation is named by its id
  types(() => CrudController({ entity: Article, endpoint: '/a', searchableFields: ['author'] }));
  // @ts-expect-error a method is no field
  types(() => CrudController({ entity: Article, endpoint: '/a', searchableFields: ['shout'] }));
});

it('[7.1] [7.2] types the fields of filters and sorts by the entity', () => {
  const article = { entity: Article, endpoint: '/a' } as const;
  types(() => CrudController({ ...article, filterableFields: ['title', 'authorId', 'author.id', 'address.city'] }));
  types(() => CrudController({ ...article, filterableFields: ['author.articles.title'] }));
  types(() => CrudController({ ...article, filterableFields: true, sortableFields: ['publishedAt', 'id'] }));
  // @ts-expect-error a misspelt field
  types(() => CrudController({ ...article, filterableFields: ['titel'] }));
  // @ts-expect-error a misspelt field of a related entity
  types(() => CrudController({ ...article, filterableFields: ['author.nme'] }));
  types(() => CrudController({ ...article, sortableFields: ['author.id', 'editor.id'] }));
  // @ts-expect-error a misspelt field
  types(() => CrudModule.forFeature({ ...article, sortableFields: ['titel'] }));
  // @ts-expect-error a misspelt field of a related entity
  types(() => CrudController({ ...article, sortableFields: ['author.nme'] }));
  // @ts-expect-error a field of many records
  types(() => CrudController({ entity: Author, endpoint: '/b', sortableFields: ['articles.title'] }));
  types(() => CrudController({ ...article, defaultSort: '-publishedAt,title' }));
  // @ts-expect-error a misspelt field
  types(() => CrudController({ ...article, defaultSort: '-titel' }));
});

it('[1] leaves out the methods that an entity inherits', () => {
  type UserField = 'id' | 'email' | 'username' | 'password' | 'role' | 'firstName' | 'lastName' | 'active';
  abstract class User extends AuthUser {
    phone!: string | null;
  }
  isTrue<Equal<FieldName<User>, UserField | 'phone'>>();
  isTrue<Equal<keyof Envelope<User>['data'], UserField | 'phone'>>();
  expect(User).toBeDefined();
});

it('[1] types records as clients receive them', () => {
  type Data = Envelope<Article>['data'];
  isTrue<Equal<keyof Data, 'id' | 'title' | 'publishedAt' | 'address' | 'tags' | 'authorId' | 'editorId'>>();
  isTrue<Equal<Data['authorId'], number>>();
  isTrue<Equal<Data['editorId'], number | null>>();
  isTrue<Equal<Data['publishedAt'], Date | undefined>>();
  isTrue<Equal<Envelope<Article[]>['data'][number], Data>>();
  isTrue<Equal<Envelope<null>['data'], null>>();
  isTrue<Equal<Envelope<{ exists: boolean }>['data']['exists'], boolean>>();
});

it('[9.1] types scopes by the entity and those of its relations', () => {
  const article = { entity: Article, endpoint: '/a' } as const;
  types(() => CrudController({ ...article, scope: ({ user }) => (user ? { authorId: user.id } : false) }));
  types(() =>
    CrudController({
      ...article,
      scope: ({ user }) => (user ? { author: { articles: { editorId: user.id, author: { id: user.id } } } } : false),
    }),
  );
  // @ts-expect-error a misspelt field of a related entity
  types(() => CrudController({ ...article, scope: () => ({ author: { articles: { editrId: 1 } } }) }));
});

it('[4.7] an override may answer another shape, and `super` keeps its types', () => {
  @Controller()
  class Overridden extends CrudController(base) {
    @Get()
    override async findAll(query: ListQuery): Promise<string[]> {
      const { data, ...rest } = await super.findAll(query);
      isTrue<Equal<(typeof data)[number]['authorId'], number>>();
      isTrue<Equal<typeof rest.success, true>>();
      return data.map(({ title }) => title);
    }

    @Get(':id')
    override findById(id: string): Promise<Envelope<Article>> {
      return super.findById(id);
    }

    @Post()
    override async create(@Body() body: JsonObject, user?: { id: number }) {
      const created = await super.create({ ...body, publishedAt: new Date() });
      // @ts-expect-error the related record is not sent
      types(() => created.data.author);
      return { ...created, by: user?.id };
    }
  }
  expect(Overridden).toBeDefined();
});

it('[7.4] [8.3] types the relations of options by the entity', () => {
  class Authors extends CrudController({ entity: Author, endpoint: '/authors' }) {}
  const article = { entity: Article, endpoint: '/a' } as const;
  types(() => CrudController({ ...article, includableRelations: ['author', 'editor', 'author.articles.author'] }));
  types(() => CrudController({ ...article, includableRelations: [{ relation: 'author', controller: Authors }] }));
  types(() => CrudModule.forFeature({ ...article, includableRelations: ['author.articles'] }));
  // @ts-expect-error a misspelt relation
  types(() => CrudController({ ...article, includableRelations: ['autor'] }));
  // @ts-expect-error a misspelt relation of a relation
  types(() => CrudModule.forFeature({ ...article, includableRelations: ['author.article'] }));
  // @ts-expect-error deeper than three
  types(() => CrudController({ ...article, includableRelations: ['author.articles.author.articles'] }));
  types(() => CrudController({ entity: Author, endpoint: '/b', linkableRelations: ['articles'] }));
  // @ts-expect-error a to-one relation
  types(() => CrudController({ ...article, linkableRelations: ['author'] }));
});

it('[8.9] types the operations, and hooks by the entity', () => {
  types(() => CrudController({ ...base, operations: ['findAll', 'patch'] }));
  // @ts-expect-error a misspelt operation
  types(() => CrudController({ ...base, operations: ['findall'] }));
  class Hooked extends CrudController(base) {
    override async beforeCreate(values: HookValues<Article>, { manager, user, request }: HookContext) {
      isTrue<Equal<typeof values.publishedAt, Date | undefined>>();
      isTrue<Equal<typeof values.authorId, number | undefined>>();
      types(() => [manager.transaction, user?.roles, request?.headers]);
      // @ts-expect-error a misspelt field
      types(() => values.titel);
      return { ...values, publishedAt: new Date() };
    }
    override beforeUpdate(id: number): void {
      types(() => id.toFixed());
    }
    override async afterDelete(id: number): Promise<void> {
      types(() => id.toFixed());
    }
    override afterCreate(record: CrudRecord<Article>): void {
      types(() => record.editorId?.toFixed());
    }
  }
  class Mistyped extends CrudController(base) {
    // @ts-expect-error the id is a number
    override beforeDelete(id: string): void {
      types(() => id.length);
    }
    // @ts-expect-error a value of another type
    override beforeCreate() {
      return { title: 5 };
    }
  }
  expect([Hooked, Mistyped]).toBeDefined();
});

it('[8.2] types batches as their single operations', () => {
  class Batched extends CrudController({ ...base, enableBatch: true }) {
    @Post('batch')
    override async createMany(body: JsonObject, query?: ListQuery) {
      const { data } = await super.createMany(body, query);
      isTrue<Equal<(typeof data)[number]['authorId'], number>>();
      const { data: none } = await super.deleteMany({ ids: '1,2' });
      isTrue<Equal<typeof none, null>>();
      const { data: each } = await super.createMany(body, { atomic: 'false' });
      isTrue<Equal<typeof each, readonly BatchResult<CrudRecord<Article>>[]>>();
      return data.map(({ title }) => title);
    }
  }
  expect(Batched).toBeDefined();
});
