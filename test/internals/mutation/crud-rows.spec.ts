/** Which rows and fields the caller of an operation may see and write: scopes, owners, path parameters, fields. */
import 'reflect-metadata';
import { HttpException } from '@nestjs/common';
import {
  And,
  Any,
  ArrayContains,
  Between,
  DataSource,
  EntitySchema,
  Equal,
  ILike,
  In,
  IsNull,
  LessThan,
  LessThanOrEqual,
  Like,
  MoreThan,
  MoreThanOrEqual,
  Not,
  Or,
  Raw,
} from 'typeorm';
import type { CrudOptions, FieldPermission } from '../../../lib/crud/declare/crud-options.js';
import { choosesDeleted, deletedIn } from '../../../lib/crud/operations/list.js';
import { beginTask, compilePlan, relatedVisible, type Plan } from '../../../lib/crud/plan/plan.js';
import type { Deleted } from '../../../lib/crud/query/parameters.js';
import type { Call } from '../../../lib/crud/store/call.js';
import type { CallerView } from '../../../lib/crud/plan/caller-views.js';
import { permissionsOf } from '../../../lib/crud/rows/field-permissions.js';
import { newOwnerOf, ownIdOf, type Ownership } from '../../../lib/crud/rows/owner.js';
import { useScope, type ScopeContext } from '../../../lib/crud/declare/scope.js';
import { conditionOfWhere } from '../../../lib/crud/rows/where-condition.js';
import { ConnectionQueue } from '../../../lib/database/connections.js';
import { Database } from '../../../lib/crud/store/database.js';
import { checkCreated, readBody } from '../../../lib/crud/write/bodies.js';
import type { Field } from '../../../lib/entities/entity-schema.js';
import { isKnownTo, UNRESTRICTED, type Permissions } from '../../../lib/entities/permissions.js';
import { setAuthentication, setStoredUser } from '../../../lib/http/caller.js';
import type { AuthenticationRequired } from '../../../lib/http/refusal.js';
import type { Application } from '../../../lib/routes/application.js';
import { declareRoute } from '../../../lib/routes/declared-route.js';
import { makeRoute } from '../../../lib/routes/route.js';
import { Article, callFor, Cover, Member, openDatabase, planOf, Tag, Writer } from './articles.js';
import { show } from './shown.js';

let dataSource: DataSource;
beforeAll(async () => {
  dataSource = await openDatabase();
});
afterAll(() => dataSource.destroy());

const compile = (options: Partial<CrudOptions<Article>> = {}) => planOf(dataSource, options);
const begin = (plan: Plan, call: Call, operation: string, deleted?: Deleted) =>
  beginTask(plan, call, operation, deleted);
const requestOf = (user?: unknown, more: object = {}): object => ({ method: 'GET', headers: {}, user, ...more });
const ANN = { id: 7, email: '', roles: ['EDITOR'] };
const ROOT = { id: 1, email: '', roles: ['ADMIN'] };

/** What a refusal answers, or the message of another error. */
async function refusal(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof HttpException)) return (error as Error).message;
    return [error.getStatus(), error.message];
  }
  return 'accepted';
}

describe('[9.1] the condition of a scope', () => {
  const read = (where: unknown) =>
    conditionOfWhere(
      where,
      dataSource.getMetadata('Article'),
      new Database(dataSource, new ConnectionQueue(dataSource)),
    );
  const author = (values: object): Writer => Object.assign(new Writer(), values);

  it.each<[what: string, where: unknown, condition: string]>([
    ['true', true, 'all'],
    ['false', false, 'none'],
    ['no condition', {}, 'all'],
    ['no alternative', [], 'none'],
    ['a value', { pages: 3 }, 'pages eq 3'],
    ['a false value', { free: false }, 'free eq false'],
    ['several values', { pages: 3, title: '' }, '(pages eq 3 & title eq "")'],
    ['alternatives', [{ pages: 3 }, { free: true, pages: 4 }], '(pages eq 3 | (free eq true & pages eq 4))'],
    ['alternatives of which one is everything', [{ pages: 3 }, {}], 'all'],
    ['nested alternatives', [[{ pages: 3 }], false, true], 'all'],
    ['a moment', { readAt: new Date(0) }, 'readAt eq "1970-01-01T00:00:00.000Z"'],
    ['an embedded object', { place: { city: 'Ulm' } }, 'place.city eq "Ulm"'],
    ['Equal', { pages: Equal(3) }, 'pages eq 3'],
    ['Equal of an operator', { pages: Equal(MoreThan(3)) }, 'pages gt 3'],
    ['LessThan', { pages: LessThan(3) }, 'pages lt 3'],
    ['LessThanOrEqual', { pages: LessThanOrEqual(3) }, 'pages lte 3'],
    ['MoreThan', { pages: MoreThan(3) }, 'pages gt 3'],
    ['MoreThanOrEqual', { pages: MoreThanOrEqual(3) }, 'pages gte 3'],
    ['Between', { pages: Between(3, 4) }, 'pages between 3 4'],
    ['In', { pages: In([3, 4]) }, 'pages in 3 4'],
    ['In of nothing', { pages: In([]) }, 'none'],
    ['Any', { pages: Any([3]) }, 'pages in 3'],
    ['Like', { title: Like('a%_*?[]') }, 'title like "a*?[*][?][[]]"'],
    ['Like with escapes', { title: Like('\\%\\_\\\\\\*\\') }, 'title like "%_\\\\[*]\\\\"'],
    ['IsNull', { note: IsNull() }, 'note isNull'],
    ['Not of a value', { pages: Not(3) }, '(pages isNotNull & !pages eq 3)'],
    ['Not of IsNull', { pages: Not(IsNull()) }, 'pages isNotNull'],
    ['Not of In', { pages: Not(In([3])) }, '(pages isNotNull & !pages in 3)'],
    ['Not of an empty list', { pages: Not(In([])) }, '(pages isNotNull & !none)'],
    ['Not of Not', { pages: Not(Not(3)) }, '(pages isNotNull & !(pages isNotNull & !pages eq 3))'],
    ['And', { pages: And(MoreThan(1), LessThan(9)) }, '(pages gt 1 & pages lt 9)'],
    ['Or', { pages: Or(LessThan(1), IsNull()) }, '(pages lt 1 | pages isNull)'],
    ['Raw with a function', { pages: Raw((column) => `${column} > :min`, { min: 3 }) }, 'raw pages > :min {"min":3}'],
    ['Raw with SQL', { pages: Raw('3') }, 'raw pages = 3 {}'],
    ['the key of a related record', { writer: 5 }, 'writerId eq 5'],
    ['the name of a key on the wire', { writerId: 5 }, 'writerId eq 5'],
    ['keys of related records', { writer: In([5, 6]) }, 'writerId in 5 6'],
    ['no related record', { writer: IsNull() }, 'writerId isNull'],
    ['a related record', { writer: { id: 5 } }, 'writer{(id eq 5 & goneAt isNull)}'],
    [
      'a condition on it',
      { writer: { name: Not('Ann') } },
      'writer{(name isNotNull & !name eq "Ann" & goneAt isNull)}',
    ],
    ['a condition on many records', { tags: { word: 'red' } }, 'tags{word eq "red"}'],
    [
      'a condition far away',
      { tags: { articles: { writer: 5 } } },
      'tags{articles{(writerId eq 5 & deletedAt isNull)}}',
    ],
  ])('%s', (_, where, condition) => {
    expect(show(read(where))).toBe(condition);
  });

  it('refuses a value for a relation by several columns: it would restrict only the first one', async () => {
    const database = new Database(dataSource, new ConnectionQueue(dataSource));
    const article = database.describe(dataSource.getMetadata('Article'));
    const [pages] = article.fields.filter(({ name }) => name === 'pages');
    const references = article.references.map((each) => ({ ...each, fields: [...each.fields, pages!] }));
    const describe = () => ({ ...article, references });
    expect(
      await refusal(() =>
        conditionOfWhere({ writer: 5 }, dataSource.getMetadata('Article'), { describe } as unknown as Database),
      ),
    ).toBe('The scope of Article needs a condition on writer.');
  });

  it('follows a relation to an entity without a class', async () => {
    const id = { type: Number, primary: true } as const;
    const shelf = new EntitySchema({ name: 'Shelf', columns: { id } });
    const relation = { type: 'many-to-one', target: 'Shelf' } as const;
    const book = new EntitySchema<{ id: number; shelf: object }>({
      name: 'Book',
      columns: { id },
      relations: { shelf: relation },
    });
    const library = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities: [shelf, book] });
    await library.initialize();
    const database = new Database(library, new ConnectionQueue(library));
    const condition = conditionOfWhere({ shelf: { id: 5 } }, library.getMetadata('Book'), database);
    expect(show(condition)).toBe('shelf{id eq 5}');
    await library.destroy();
  });

  it('takes a record as its key alone', () => {
    expect(show(read({ writer: author({ id: 5, name: 'renamed' }) }))).toBe('writer{(id eq 5 & goneAt isNull)}');
  });

  it.each<[what: string, where: () => unknown, message: string]>([
    ['nothing', () => undefined, 'A scope must be an object, an array of objects, true or false'],
    ['null', () => null, 'A scope must be an object, an array of objects, true or false'],
    ['a text', () => 'id = 1', 'A scope must be an object, an array of objects, true or false'],
    ['a Date', () => new Date(), 'A scope must be an object, an array of objects, true or false'],
    ['bytes', () => Buffer.from('a'), 'A scope must be an object, an array of objects, true or false'],
    [
      'an alternative that is none',
      () => [{ pages: 1 }, undefined],
      'A scope must be an object, an array of objects, true or false',
    ],
    ['undefined', () => ({ pages: undefined }), 'The scope of Article has no value for pages. Use IsNull() for NULL.'],
    ['NULL', () => ({ pages: null }), 'The scope of Article has no value for pages. Use IsNull() for NULL.'],
    [
      'NULL inside',
      () => ({ place: { city: null } }),
      'The scope of Article has no value for place.city. Use IsNull() for NULL.',
    ],
    ['NULL in an operator', () => ({ pages: MoreThan(null) }), 'The scope of Article has no value for pages.'],
    ['undefined in a list', () => ({ pages: In([1, undefined]) }), 'The scope of Article has no value for pages.'],
    ['another name', () => ({ colour: 1 }), 'The scope of Article names colour, which the entity does not have.'],
    [
      'another name inside',
      () => ({ place: { zip: 1 } }),
      'The scope of Article names place.zip, which the entity does not have.',
    ],
    [
      'the beginning of a name',
      () => ({ pla: { city: 'Ulm' } }),
      'The scope of Article names pla, which the entity does not have.',
    ],
    [
      'a value for an embedded object',
      () => ({ place: 'Ulm' }),
      'The scope of Article names place, which the entity does not have.',
    ],
    [
      'another operator',
      () => ({ title: ILike('a%') }),
      'The scope of Article uses the operator ilike, which scopes do not support.',
    ],
    [
      'an operator for arrays',
      () => ({ title: ArrayContains(['a']) }),
      'The scope of Article uses the operator arrayContains, which scopes do not support.',
    ],
    [
      'an operator in an operator',
      () => ({ pages: MoreThan(LessThan(3)) }),
      'The scope of Article uses the operator moreThan, which scopes do not support.',
    ],
    [
      'a record without a key',
      () => ({ writer: author({ name: 'Ann' }) }),
      'The scope of Writer has no value for id. Use IsNull() for NULL.',
    ],
    ['a key of many records', () => ({ tags: 5 }), 'The scope of Article needs a condition on tags.'],
  ])('refuses %s', async (_, where, message) => {
    expect(await refusal(() => read(where()))).toBe(message);
  });
});

/** What the caller may do with some fields: `title:riu` may be read, inserted and updated. */
const rights = ({ canRead, canInsert, canUpdate }: Permissions, fields: readonly Field[], ...names: string[]): string =>
  names
    .map((name) => {
      const field = fields.find((each) => each.name === name)!;
      return `${name}:${canRead(field) ? 'r' : ''}${canInsert(field) ? 'i' : ''}${canUpdate(field) ? 'u' : ''}`;
    })
    .join(' ');

describe('[9.3] the fields', () => {
  it.each<[what: string, FieldPermission, user: unknown, rights: string]>([
    ['nothing', {}, undefined, 'riu'],
    ['nobody reads', { read: 'never' }, ROOT, 'iu'],
    ['nobody writes', { write: 'never' }, ROOT, 'r'],
    ['written once', { write: 'once' }, undefined, 'ri'],
    ['neither', { read: 'never', write: 'never' }, ROOT, ''],
    ['readers, for one', { read: ['EDITOR', 'X'] }, ANN, 'riu'],
    ['readers, for another', { read: ['EDITOR'] }, ROOT, 'iu'],
    ['readers, for an anonymous caller', { read: ['EDITOR'] }, undefined, 'iu'],
    ['writers, for one', { write: ['EDITOR'] }, ANN, 'riu'],
    ['writers, for another', { write: ['EDITOR'] }, ROOT, 'r'],
    ['no reader', { read: [] }, ROOT, 'iu'],
  ])('%s', (_, permission, user, expected) => {
    const { fields } = compile().schema;
    const note = fields.find(({ name }) => name === 'note')!;
    const permissions = permissionsOf(new Map([[note, permission]]), requestOf(user) as never);
    expect(rights(permissions, fields, 'note', 'title', 'id')).toBe(`note:${expected} title:riu id:r`);
  });

  it('are those of the entity where nothing is declared', () => {
    const { fields } = compile().schema;
    expect(permissionsOf(new Map(), undefined)).toBe(UNRESTRICTED);
    expect(rights(UNRESTRICTED, fields, 'title', 'id', 'deletedAt')).toBe('title:riu id:r deletedAt:r');
    const hidden = { ...fields[0]!, readable: false };
    expect([UNRESTRICTED.canRead(hidden), UNRESTRICTED.canInsert(hidden)]).toEqual([false, false]);
  });

  it('have the key in creations where clients choose it', () => {
    const { fields } = compile().schema;
    const permissions = permissionsOf(new Map(), undefined, { clientId: true });
    expect(rights(permissions, fields, 'id', 'title', 'deletedAt')).toBe('id:ri title:riu deletedAt:r');
  });

  it('are named in messages where the caller may do anything with them', () => {
    const [field] = compile().schema.fields;
    const may = (read: boolean, insert: boolean, update: boolean): Permissions => ({
      canRead: () => read,
      canInsert: () => insert,
      canUpdate: () => update,
    });
    const cases = [may(true, false, false), may(false, true, false), may(false, false, true), may(false, false, false)];
    expect(cases.map((each) => isKnownTo(field!, each))).toEqual([true, true, true, false]);
  });

  it('that the caller may not read are no parameters', async () => {
    const plan = compile({
      enableSearch: true,
      searchableFields: ['title', 'note'],
      filterableFields: ['title', 'note', 'writer.name', 'sequelOf.note'] as never,
      sortableFields: ['title', 'note'],
      defaultSort: '-note,title',
      fieldPermissions: { note: { read: ['EDITOR'] } },
    });
    const names = async (user: unknown) => {
      const { list } = (await begin(plan, callFor(requestOf(user)), 'search')).view;
      return {
        searchable: [...list.searchable.keys()].join(),
        filterable: [...list.filterable.keys()].join(),
        sortable: [...list.sortable.keys()].join(),
        defaultSort: list.defaultSort.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join(),
        readsNote: list.readable.some(({ name }) => name === 'note'),
        readsTitle: list.readable.some(({ name }) => name === 'title'),
      };
    };
    expect(await names(ANN)).toEqual({
      searchable: 'title,note',
      filterable: 'title,note,writer.name,sequelOf.note',
      sortable: 'title,note',
      defaultSort: '-note,title',
      readsNote: true,
      readsTitle: true,
    });
    expect(await names(ROOT)).toEqual({
      searchable: 'title',
      filterable: 'title,writer.name,sequelOf.note',
      sortable: 'title',
      defaultSort: 'title',
      readsNote: false,
      readsTitle: true,
    });
  });
});

describe('[7.1] [7.4] [9.3] the relations that a caller may follow', () => {
  const followed: Partial<CrudOptions<Article>> = {
    includableRelations: ['writer', 'sequelOf', 'sequelOf.writer', 'tags', 'cover', 'cover.article'] as never,
    filterableFields: ['title', 'writer.name', 'sequelOf.note', 'sequelOf.writer.name', 'tags.word'] as never,
  };
  const restricted = { note: { read: ['EDITOR'] }, writerId: { read: ['EDITOR'] } } as const;
  const view = async (plan: Plan, user: unknown) => {
    const { list } = (await begin(plan, callFor(requestOf(user)), 'findAll')).view;
    return { filterable: [...list.filterable.keys()].join(), includable: [...list.includable.keys()].join() };
  };
  const readable = async (plan: Plan, user: unknown, path: string) => {
    const { list } = (await begin(plan, callFor(requestOf(user)), 'findAll')).view;
    return list.includable.get(path)?.readable.map(({ name }) => name);
  };
  const ALL = {
    filterable: 'title,writer.name,sequelOf.note,sequelOf.writer.name,tags.word',
    includable: 'writer,sequelOf,tags,cover,sequelOf.writer,cover.article',
  };

  it('are those whose column the caller may read', async () => {
    const plan = compile({ ...followed, fieldPermissions: { writerId: { read: ['EDITOR'] } } as never });
    expect(await view(plan, ANN)).toEqual(ALL);
    expect(await view(plan, ROOT)).toEqual({
      filterable: 'title,sequelOf.note,sequelOf.writer.name,tags.word',
      includable: 'sequelOf,tags,cover,sequelOf.writer,cover.article',
    });
  });

  it('are no filters where the column of an earlier relation is hidden', async () => {
    const plan = compile({ ...followed, fieldPermissions: { sequelOfId: { read: ['EDITOR'] } } as never });
    expect(await view(plan, ANN)).toEqual(ALL);
    expect(await view(plan, ROOT)).toEqual({
      filterable: 'title,writer.name,tags.word',
      includable: 'writer,tags,cover,cover.article',
    });
  });

  it('are not those of a related record whose own column is hidden', async () => {
    const others = new Map([[Tag, { fieldPermissions: { broaderId: { read: ['EDITOR'] } } }]]);
    const plan = planOf(dataSource, { includableRelations: ['tags', 'tags.broader'] as never }, undefined, others);
    expect((await view(plan, ANN)).includable).toBe('tags,tags.broader');
    expect((await view(plan, ROOT)).includable).toBe('tags');
  });

  it('depend on the fields of the related resource', async () => {
    const others = new Map<unknown, object>([
      [Article, { fieldPermissions: restricted }],
      [Cover, { fieldPermissions: { articleId: { read: ['EDITOR'] } } }],
    ]);
    const plan = planOf(dataSource, followed, undefined, others);
    expect(await view(plan, ANN)).toEqual(ALL);
    expect(await view(plan, ROOT)).toEqual({
      filterable: 'title,writer.name,tags.word',
      includable: 'writer,sequelOf,tags',
    });
    expect(await readable(plan, ANN, 'sequelOf')).toEqual(expect.arrayContaining(['title', 'note', 'writerId']));
    expect(await readable(plan, ROOT, 'sequelOf')).toContain('title');
    expect(await readable(plan, ROOT, 'sequelOf')).not.toEqual(expect.arrayContaining(['note']));
    expect(await readable(plan, ROOT, 'sequelOf')).not.toEqual(expect.arrayContaining(['writerId']));
    expect(await readable(plan, ROOT, 'writer')).toEqual(['id', 'name']);
  });

  it('share the views among callers with the same named roles', () => {
    const of = (plan: Plan, ...roles: string[]) => plan.viewsFor(requestOf({ id: 1, email: '', roles }) as never);
    const others = new Map([[Writer, { fieldPermissions: { name: { read: ['E'] } } }]]);
    const plan = planOf(
      dataSource,
      {
        ...followed,
        fieldPermissions: { note: { read: ['A'], write: ['B'] }, title: { write: 'once' } },
        owner: { field: 'ownerId', except: ['AB'] },
        deletedRoles: ['D'],
      },
      undefined,
      others,
    );
    const views = [of(plan), ...['A', 'B', 'AB', 'D', 'E'].map((role) => of(plan, role)), of(plan, 'A', 'B')];
    expect(new Set(views).size).toBe(7);
    expect(of(plan, 'Z', 'A')).toBe(of(plan, 'A'));
    expect(plan.viewsFor(undefined)).toBe(of(plan));
  });

  it('[8.5] the version of a record is known to callers who may read it', async () => {
    const versionOf = async (fields: object, user: unknown) =>
      (await begin(compile({ fieldPermissions: fields }), callFor(requestOf(user)), 'patch')).view.version?.name;
    expect(await versionOf({}, undefined)).toBe('version');
    expect(await versionOf({ version: { read: ['EDITOR'] } }, ANN)).toBe('version');
    expect(await versionOf({ version: { read: ['EDITOR'] } }, ROOT)).toBeUndefined();
  });
});

describe('[9.1] [9.2] [8.4] [8.7] the view of a caller', () => {
  const shown = ({ visible, isScoped, preconditions, fixed }: CallerView) => ({
    visible: show(visible),
    isScoped,
    preconditions: preconditions.map(({ condition }) => show(condition)),
    fixed: [...fixed].map(([{ name }, value]) => `${name}=${String(value)}`),
  });
  const LIVE = 'deletedAt isNull';
  const OPEN = { visible: LIVE, isScoped: false, preconditions: [], fixed: [] };

  it.each<[what: string, Partial<CrudOptions<Article>>, user: unknown, view: object, related: string]>([
    ['without rules', {}, undefined, OPEN, LIVE],
    [
      'of a scope',
      { scope: ({ user }) => (user ? { pages: 3 } : false) },
      ANN,
      { ...OPEN, visible: '(pages eq 3 & deletedAt isNull)', isScoped: true },
      '(pages eq 3 & deletedAt isNull)',
    ],
    [
      'outside of a scope',
      { scope: ({ user }) => (user ? { pages: 3 } : false) },
      undefined,
      { ...OPEN, visible: '(none & deletedAt isNull)', isScoped: true },
      '(none & deletedAt isNull)',
    ],
    ['of everything', { scope: () => Promise.resolve(true) }, undefined, OPEN, LIVE],
    ['of an owner', { owner: 'ownerId' }, ANN, { ...OPEN, preconditions: ['ownerId eq 7'] }, LIVE],
    ['of an anonymous caller', { owner: 'ownerId' }, undefined, { ...OPEN, preconditions: ['none'] }, LIVE],
    [
      'of an owner who reads alone',
      { owner: { field: 'ownerId', reads: true } },
      ANN,
      { ...OPEN, visible: '(ownerId eq 7 & deletedAt isNull)', preconditions: ['ownerId eq 7'] },
      '(ownerId eq 7 & deletedAt isNull)',
    ],
    ['of a role that is not bound', { owner: { field: 'ownerId', reads: true, except: ['ADMIN'] } }, ROOT, OPEN, LIVE],
    [
      'of another role',
      { owner: { field: 'ownerId', reads: false, except: ['ADMIN'] } },
      ANN,
      { ...OPEN, preconditions: ['ownerId eq 7'] },
      LIVE,
    ],
    [
      'below a path',
      { endpoint: '/writers/:writerId/owners/:ownerId/articles' },
      undefined,
      {
        ...OPEN,
        visible: '(writerId eq 5 & ownerId eq -2 & writer{goneAt isNull} & deletedAt isNull)',
        fixed: ['writerId=5', 'ownerId=-2'],
      },
      LIVE,
    ],
    [
      'below a path without a related record',
      { endpoint: '/owners/:ownerId/articles' },
      undefined,
      { ...OPEN, visible: '(ownerId eq -2 & deletedAt isNull)', fixed: ['ownerId=-2'] },
      LIVE,
    ],
    [
      'of all of them',
      {
        endpoint: '/writers/:writerId/articles',
        scope: () => [{ free: true }, { pages: 1 }],
        owner: { field: 'ownerId', reads: true },
      },
      ANN,
      {
        visible:
          '(writerId eq 5 & (free eq true | pages eq 1) & ownerId eq 7 & writer{goneAt isNull} & deletedAt isNull)',
        isScoped: true,
        preconditions: ['ownerId eq 7'],
        fixed: ['writerId=5'],
      },
      '((free eq true | pages eq 1) & ownerId eq 7 & deletedAt isNull)',
    ],
  ])('%s', async (_, options, user, view, related) => {
    const plan = compile(options);
    const call = callFor(requestOf(user, { params: { writerId: '5', ownerId: '-2' } }));
    expect(shown((await begin(plan, call, 'findAll')).view)).toEqual(view);
    expect(show(await relatedVisible(plan, call))).toBe(related);
  });

  it('[8.7] below a parent that everybody sees, the path alone counts', async () => {
    const plan = compile({ entity: Tag as never, endpoint: '/tags/:broaderId/tags' });
    const call = callFor(requestOf(undefined, { params: { broaderId: '5' } }));
    expect(show((await begin(plan, call, 'findAll')).view.visible)).toBe('broaderId eq 5');
  });

  it('[8.7] a path with only a part of the key of a related record requires no such record', async () => {
    const below = compile({ endpoint: '/writers/:writerId/articles' });
    const [writer] = below.schema.references.filter(({ fields }) => fields.some(({ name }) => name === 'writerId'));
    const fields = [...writer!.fields, below.schema.fields.find(({ name }) => name === 'pages')!];
    const visible = async (references: typeof below.schema.references) => {
      const resource = { ...below, schema: { ...below.schema, references } };
      const related = { relations: () => below.relations, referenced: below.referenced };
      const plan = compilePlan(resource, dataSource.getRepository(Article), related, () => true, {} as Application);
      const call = callFor(requestOf(undefined, { params: { writerId: '5' } }));
      return show((await begin(plan, call, 'findAll')).view.visible);
    };
    expect(await visible([writer!])).toBe('(writerId eq 5 & writer{goneAt isNull} & deletedAt isNull)');
    expect(await visible([{ ...writer!, fields }])).toBe('(writerId eq 5 & deletedAt isNull)');
  });

  it('[8.7] the path of code outside of requests has values of the column', async () => {
    const call = callFor(requestOf(undefined, { params: { free: true } }));
    const { view } = await begin(compile({ endpoint: '/free/:free/articles' }), call, 'findAll');
    expect(show(view.visible)).toBe('(free eq true & deletedAt isNull)');
  });

  it('is there at once where no part depends on the request', () => {
    expect(begin(compile(), callFor(), 'findAll')).not.toBeInstanceOf(Promise);
  });

  it.each<[what: string, caller: object | undefined, preconditions: string[]]>([
    ['a caller', ROOT, ['(!id eq 1 | (role eq "ADMIN" & active eq true))']],
    ['a caller of another table', { ...ROOT, id: 'x' }, []],
    ['a caller that was not read', undefined, []],
  ])('[2.5] of records that grant power, %s must still have the role', async (_, caller, expected) => {
    const options = { entity: Member as never, endpoint: '/members', operations: ['findAll', 'patch'] as never };
    const request = requestOf(ANN);
    if (caller) setStoredUser(request as never, { bearerWasSent: true, principal: caller } as never);
    const { preconditions } = (await begin(compile(options), callFor(request), 'patch')).view;
    expect(preconditions.map(({ condition }) => show(condition))).toEqual(expected);
    const challenges = preconditions.map((each) => (each.refuse() as AuthenticationRequired).challenge);
    expect(challenges).toEqual(expected.map(() => 'Bearer error="invalid_token"'));
  });

  it('[9.1] a scope knows the user and the operation, and is anonymous outside of a request', async () => {
    const contexts: ScopeContext[] = [];
    const scope = (context: ScopeContext) => contexts.push(context) > 0;
    await begin(compile({ scope }), callFor(requestOf(ANN)), 'patch');
    await begin(compile({ scope }), callFor(), 'count');
    expect(contexts).toEqual([
      { user: ANN, operation: 'patch' },
      { user: undefined, operation: 'count' },
    ]);
  });

  it('[9.1] a scope is evaluated once for the relations of a call', async () => {
    const contexts: ScopeContext[] = [];
    const plan = compile({ scope: (context) => contexts.push(context) > 0 });
    const call = callFor(requestOf(ANN));
    expect(await relatedVisible(plan, call)).toBe(await relatedVisible(plan, call));
    expect(contexts).toEqual([{ user: ANN, operation: 'findAll' }]);
  });

  it('[9.1] a key with fewer roles than its user stays in its own scope', async () => {
    const scope = ({ user }: ScopeContext) => (user?.roles.includes('EDITOR') ? true : { pages: 3 });
    const request = requestOf();
    const principal = { ...ANN, roles: ['USER'] };
    setAuthentication(request as never, { bearerWasSent: true, isKey: true, principal, whole: [ANN] });
    const { view } = await begin(compile({ scope }), callFor(request), 'patch');
    expect([show(view.visible), view.isScoped]).toEqual(['(pages eq 3 & deletedAt isNull)', true]);
  });

  it('[9.1] a scope may be a provider', async () => {
    class ArticleScope {
      private readonly pages = 4;
      scope() {
        return { pages: this.pages };
      }
    }
    const plan = planOf(dataSource, { scope: useScope(ArticleScope) }, (provider) => new provider());
    expect(show((await begin(plan, callFor(), 'findAll')).view.visible)).toBe('(pages eq 4 & deletedAt isNull)');
  });

  it('[9.1] a scope that throws refuses', async () => {
    const scope = () => {
      throw new TypeError('no team');
    };
    expect(await refusal(() => begin(compile({ scope }), callFor(), 'findAll'))).toBe('no team');
  });

  it.each<[string, params: object | undefined, answer: unknown]>([
    ['a value that is none', { writerId: 'x' }, [404, 'No Article exists at this path']],
    ['a value out of range', { writerId: '9'.repeat(30) }, [404, 'No Article exists at this path']],
    [
      'no value',
      {},
      'Article is served below :writerId: its operations need a value for it; run them by runAs(user, work, { path: { writerId: … } })',
    ],
    [
      'no parameters',
      undefined,
      'Article is served below :writerId: its operations need a value for it; run them by runAs(user, work, { path: { writerId: … } })',
    ],
  ])('[8.7] the path refuses %s', async (_, params, answer) => {
    const plan = compile({ endpoint: '/writers/:writerId/articles' });
    const view = (request?: object) => begin(plan, callFor(request), 'findAll');
    expect(await refusal(() => view(requestOf(ANN, { params })))).toEqual(answer);
    expect(await refusal(() => view())).toMatch('its operations need a value for it');
  });

  it.each<['without' | 'with' | 'only', visible: string]>([
    ['without', 'deletedAt isNull'],
    ['with', 'all'],
    ['only', 'deletedAt isNotNull'],
  ])('[8.4] sees records %s deleted', async (deleted, visible) => {
    expect(show((await begin(compile(), callFor(), 'findAll', deleted)).view.visible)).toBe(visible);
    const scoped = compile({ scope: () => ({ pages: 3 }) });
    const parts = visible === 'all' ? 'pages eq 3' : `(pages eq 3 & ${visible})`;
    expect(show((await begin(scoped, callFor(), 'findAll', deleted)).view.visible)).toBe(parts);
  });

  it('[8.4] the delete date is named by who may choose deleted records, and read where they are chosen', async () => {
    const plan = compile({ deletedRoles: ['ADMIN'], sortableFields: ['title', 'deletedAt'] as never });
    const list = async (user: unknown, deleted?: 'with') => {
      const { list } = (await begin(plan, callFor(requestOf(user)), 'findAll', deleted)).view;
      const reads = list.readable.some(({ name }) => name === 'deletedAt');
      return [list.choosesDeleted, list.sortable.has('deletedAt'), reads, list.readable.length > 5];
    };
    expect(await list(ROOT)).toEqual([true, true, false, true]);
    expect(await list(ROOT, 'with')).toEqual([true, true, true, true]);
    expect(await list(ANN, 'with')).toEqual([false, false, false, true]);
  });

  it('[8.4] who may choose deleted records', () => {
    const choose = (deletedRoles: readonly string[], user: unknown, deleted: string | string[]) => {
      const plan = compile({ deletedRoles });
      const call = callFor(requestOf(user));
      return [choosesDeleted(plan, call), deletedIn(plan, call, { deleted })];
    };
    expect(choose(['ADMIN'], ROOT, 'with')).toEqual([true, 'with']);
    expect(choose(['ADMIN'], ROOT, 'only')).toEqual([true, 'only']);
    expect(choose(['ADMIN'], ROOT, 'all')).toEqual([true, 'without']);
    expect(choose(['ADMIN'], ROOT, ['with', 'with'])).toEqual([true, 'without']);
    expect(choose(['ADMIN'], ANN, 'with')).toEqual([false, 'without']);
    expect(choose([], ROOT, 'with')).toEqual([false, 'without']);
  });
});

describe('[9.2] the owner', () => {
  const owned = (options: Partial<CrudOptions<Article>> = {}): Plan => compile({ owner: 'ownerId', ...options });
  const as = (user: unknown) => callFor(requestOf(user, { params: { writerId: '5', ownerId: '5' } }));

  it.each<[what: string, user: unknown, rights: string]>([
    ['of a bound caller', ANN, 'ownerId:r title:riu'],
    ['of an anonymous caller', undefined, 'ownerId:r title:riu'],
    ['of a role that is not bound', ROOT, 'ownerId:riu title:riu'],
  ])('is written by the server: the fields %s', async (_, user, expected) => {
    const plan = owned({
      owner: { field: 'ownerId', except: ['ADMIN'] },
      fieldPermissions: { note: { write: 'never' } },
    });
    const { permissions } = (await begin(plan, as(user), 'create')).view;
    expect(rights(permissions, plan.schema.fields, 'ownerId', 'title', 'note')).toBe(`${expected} note:r`);
  });

  it.each<[what: string, id: unknown, own: unknown]>([
    ['a number', 7, 7],
    ['a text of digits', '7', 7],
    ['zero', 0, 0],
    ['a text that is no id', 'ann', undefined],
    ['null', null, undefined],
    ['nothing', undefined, undefined],
  ])('is the id of the user as the column holds it: %s', (_, id, own) => {
    expect(ownIdOf(owned().owner!, requestOf({ id, roles: [] }) as never)).toBe(own);
  });

  it.each([null, undefined])('is nobody without an id, also where the column holds texts: %s', (id) => {
    const [field] = owned().schema.fields.filter(({ name }) => name === 'title');
    const ownership = { field: field!, claim: 'id', reads: false, except: [] };
    expect(ownIdOf(ownership, requestOf({ id: 'ann', roles: [] }) as never)).toBe('ann');
    expect(ownIdOf(ownership, requestOf({ id, roles: [] }) as never)).toBeUndefined();
  });

  it('answers others with 403', async () => {
    const { preconditions } = (await begin(owned(), as(ANN), 'update')).view;
    expect(await refusal(() => Promise.reject(preconditions[0]!.refuse()))).toEqual([403, 'Owner access required']);
  });

  it('of a new record is the caller, beside the values of the path', async () => {
    const valuesOf = async (plan: Plan, user: unknown) => {
      const task = await begin(plan, as(user), 'create');
      const { values } = await checkCreated(task, readBody(task, { title: 'a' }, 'create'));
      const given = [...values].filter(([{ name }, value]) => ['ownerId', 'writerId'].includes(name) && value != null);
      return given.map(([{ name }, value]) => `${name}=${String(value)}`).join();
    };
    expect(await valuesOf(owned(), ANN)).toBe('ownerId=7');
    expect(await valuesOf(owned({ endpoint: '/writers/:writerId/articles' }), ROOT)).toBe('ownerId=1,writerId=5');
    expect(await valuesOf(compile({ endpoint: '/writers/:writerId/articles' }), undefined)).toBe('writerId=5');
    expect(await refusal(() => valuesOf(owned(), undefined))).toEqual([401, 'Authentication required']);
    const below = { endpoint: '/owners/:ownerId/articles' };
    expect(await valuesOf(owned({ ...below, owner: { field: 'ownerId', except: ['ADMIN'] } }), ROOT)).toBe('ownerId=5');
    expect(await refusal(() => valuesOf(owned(below), ANN))).toEqual([403, 'Owner access required']);
  });

  it.each<[headers: object, challenge: string]>([
    [{}, 'Bearer'],
    [{ authorization: 'Bearer x' }, 'Bearer error="invalid_token"'],
  ])('of an anonymous creation with %j is a challenge', (headers, challenge) => {
    const create = () => newOwnerOf(owned().owner!, requestOf(undefined, { headers }) as never);
    expect(create).toThrow(expect.objectContaining({ challenge }));
  });

  it.each<[what: string, user: object, claim: string, named: unknown, owner: unknown]>([
    ['the one in the path', ANN, 'id', 7, 7],
    ['nobody for a bound user without the claim', ANN, 'team', undefined, [403, 'Owner access required']],
    ['left out for another user without the claim', ROOT, 'team', undefined, undefined],
    ['its claim', { ...ANN, team: 9 }, 'team', undefined, 9],
  ])('of a new record is %s', async (_, user, claim, named, owner) => {
    const ownership: Ownership = { ...owned().owner!, claim, except: ['ADMIN'] };
    let given: unknown;
    const refused = await refusal(() => (given = newOwnerOf(ownership, requestOf(user) as never, named)));
    expect(refused === 'accepted' ? given : refused).toEqual(owner);
  });

  it('outside of a request is nobody', async () => {
    expect(await refusal(() => newOwnerOf(owned().owner!, undefined))).toEqual([401, 'Authentication required']);
  });
});

describe('the plan of a resource', () => {
  const related = { relations: () => new Map<string, Plan>(), referenced: () => [] };
  const planWhere = (isStarted: boolean, application: object = {}) =>
    compilePlan(compile(), dataSource.getRepository(Article), related, () => isStarted, application as Application);

  it('keeps its store once the subscribers are known', () => {
    const [started, starting] = [planWhere(true), planWhere(false)];
    expect(started.store).toBeInstanceOf(Object);
    expect(started.store).toBe(started.store);
    expect(starting.store).not.toBe(starting.store);
  });

  it('loads the validator once', () => {
    const plan = planWhere(true);
    expect(plan.loadValidator()).toBeInstanceOf(Promise);
    expect(plan.loadValidator()).toBe(plan.loadValidator());
  });

  it('[8.2] knows the words in paths of other routes, which no record can have as its key', () => {
    const handler = (): void => undefined;
    declareRoute(handler, { declaredBy: 'a test', controllerPath: '/articles' });
    const routes = [makeRoute('GET', '/articles/:id', handler), makeRoute('GET', '/articles/Search')];
    const plan = planWhere(true, { routeTable: { routes } });
    expect(plan.reservedKeys).toEqual(new Set(['search']));
    expect(plan.reservedKeys).toBe(plan.reservedKeys);
  });

  it('translates failures by the providers of the application', async () => {
    const translator = { translate: (message: string) => `translated ${message}` };
    const plan = planWhere(true, { once: () => new Set([translator]) });
    expect(await plan.failureTools().translate?.('Not found', {} as never)).toBe('translated Not found');
  });

  it('[8.3] takes the ids of links in a body', () => {
    const plan = compile({ linkableRelations: ['tags'] });
    const errorsOf = (body: object) => plan.readBody(body as never, 'create', UNRESTRICTED).errors;
    expect(errorsOf({ title: 'a', tagsIds: [1] })).toEqual([]);
    expect(errorsOf({ title: 'a', coversIds: [1] })).toHaveLength(1);
  });
});
