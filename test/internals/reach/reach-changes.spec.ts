/** Changes of the access table that need other resources than the shop. */
import { Controller, VersioningType } from '@nestjs/common';
import { CrudController, type ScopeContext } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { PLATFORMS } from '../../harness/platforms.js';
import { Category, changesBetween, OPTIONS, Order, tableOf, tableOfResources, type Resources } from './shop.js';

const widerOf = (changes: ReturnType<typeof changesBetween>): string[] =>
  changes.filter(({ kind }) => kind === 'wider').map(({ sentence }) => sentence);

const own = ({ user }: ScopeContext) => ({ customerId: Number(user?.id ?? 0) });

describe('versions of an endpoint', () => {
  /** Version 1 hides the quantity. */
  const versions = (type: object, second: object = {}): Resources => {
    const options = { entity: Order, endpoint: '/orders', scope: own };
    @Controller({ version: '1' })
    class V1 extends CrudController({ ...options, fieldPermissions: { quantity: { read: 'never' } } }) {}
    @Controller({ version: '2' })
    class V2 extends CrudController({ ...options, ...second }) {}
    return { controllers: [V1, V2], configure: (app) => void app.enableVersioning(type as never) };
  };
  const URI = { type: VersioningType.URI };

  it.each(PLATFORMS)('compares each version in the URI with itself on %s', async (platform) => {
    const before = await tableOfResources(platform, versions(URI));
    expect(changesBetween(before, before)).toEqual([]);
    const after = await tableOfResources(platform, versions(URI, { scope: undefined }));
    expect(widerOf(changesBetween(before, after))).toContain(
      'USER: GET /v2/orders: was own (customerId), is all, in 6 places',
    );
  });

  it('compares each version in a header with itself', async () => {
    const table = await tableOfResources('express', versions({ type: VersioningType.HEADER, header: 'X-Version' }));
    expect(changesBetween(table, table)).toEqual([]);
  });
});

describe('roles that only a scope names', () => {
  const articles = (scope: (context: ScopeContext) => unknown) =>
    tableOf('express', { options: { Article: { scope } } });
  const before = ({ user }: ScopeContext) => ({ authorId: Number(user?.id ?? 0) });

  it('are callers', async () => {
    const after = await articles((of) => (of.user?.roles.includes('AUDITOR') ? true : before(of)));
    expect(after.callers).toEqual(['nobody', 'USER', 'STAFF', 'ADMIN', 'AUDITOR']);
    expect(widerOf(changesBetween(await articles(before), after))).toContain(
      'AUDITOR: GET /api/articles: was own (authorId), is all, in 7 places',
    );
  });

  it('are no callers without a name', async () => {
    const missing = process.env['NO_SUCH_ROLE'] as string;
    const { callers } = await articles(({ user }) => user?.roles.includes(missing) ?? false);
    expect(callers).toEqual(['nobody', 'USER', 'STAFF', 'ADMIN']);
  });

  it('are callers if the scope asks for them after another role', async () => {
    const { callers } = await articles(
      ({ user }) => user?.roles.includes('AUDITOR') && user.roles.indexOf('CHIEF') >= 0,
    );
    expect(callers).toContain('CHIEF');
  });

  it.each<[code: string, scope: (context: ScopeContext) => unknown]>([
    ['some', (of) => of.user?.roles.some((role) => role === 'AUDITOR') || before(of)],
    ['a set', (of) => new Set(of.user?.roles).has('AUDITOR') || before(of)],
    ['an index', (of) => of.user?.roles[0] === 'AUDITOR' || before(of)],
    ['a name with a value', (of) => of.user?.roles.includes(`tenant-${of.user.id}`) || before(of)],
  ])('are unknown where the scope asks by %s', async (_code, scope) => {
    const { callers, resources } = await articles(scope);
    expect(callers).toEqual(['nobody', 'USER', 'STAFF', 'ADMIN']);
    expect(resources[3]?.rows['GET /api/articles']?.['USER']).toEqual([
      [expect.stringMatching(/^code: scope of Article#[0-9a-f]{8}$/)],
    ]);
  });

  it('count in the relations of other resources', async () => {
    const scope = ({ user }: ScopeContext) => user?.roles.includes('AUDITOR') ?? false;
    const { resources } = await tableOf('express', { options: { Category: { ...OPTIONS.Category, scope } } });
    expect(resources[0]?.related['category']?.rows).toMatchObject({ USER: 'none', AUDITOR: 'all' });
  });
});

describe('callers with several roles', () => {
  const imports = (options: object = {}, rule = 'KEY'): Resources => ({
    controllers: [
      CrudController({ entity: Order, endpoint: '/imports', scope: own, access: { read: ['EDITOR'] }, ...options }),
    ],
    plugins: [apiKeys()],
    hierarchy: { CHIEF: ['EDITOR'] },
    rules: (config) => config.requireRole(rule, '/imports/**'),
  });

  it.each(PLATFORMS)('have what rules give to all of these roles only, on %s', async (platform) => {
    const before = await tableOfResources(platform, imports());
    expect(before.callers).toEqual([
      'nobody',
      'USER',
      'KEY',
      'LOGIN',
      'EDITOR',
      'CHIEF',
      'EDITOR and KEY',
      'CHIEF and KEY',
    ]);
    const after = await tableOfResources(platform, imports({ scope: undefined }));
    expect(widerOf(changesBetween(before, after))).toContain(
      'EDITOR and KEY, CHIEF and KEY: GET /imports: was own (customerId), is all, in 2 places',
    );
  });

  it('are no callers where one role includes the others', async () => {
    for (const role of ['LOGIN', 'CHIEF']) {
      const { callers } = await tableOfResources('express', imports({}, role));
      expect(callers.filter((name) => name.includes(' and '))).toEqual([]);
    }
  });

  it('had what one of their roles had, where a table does not name them', async () => {
    const [single, both] = [
      await tableOfResources('express', imports({}, 'USER')),
      await tableOfResources('express', imports()),
    ];
    expect(widerOf(changesBetween(single, both))).toEqual([]);
    const open = await tableOfResources('express', imports({ scope: undefined }, 'USER'));
    expect(widerOf(changesBetween(both, open))).toContain(
      'EDITOR and KEY, CHIEF and KEY: GET /imports: was own (customerId), is all, in 2 places',
    );
  });
});

describe('related records', () => {
  const ofAdmin = { ...OPTIONS.Product, access: { read: ['ADMIN'] } };

  it('are wider if a filter becomes the whole record', async () => {
    const before = await tableOf('express', { options: { Product: ofAdmin } });
    const included = { includableRelations: ['product'] };
    const after = await tableOf('express', { options: { Product: ofAdmin, Order: included } });
    expect(before.resources[2]?.related['product']?.fields).toEqual({
      name: { read: 'none', filter: ['USER', 'ADMIN', 'STAFF'] },
    });
    const wider = widerOf(changesBetween(before, after));
    expect(wider).toContain('USER, STAFF: Product through Order.product: name was not readable, is readable');
    expect(wider.filter((sentence) => sentence.includes('cost'))).toEqual([]);
    expect(widerOf(changesBetween(after, before))).toEqual([]);
  });

  it('are wider if another controller shows more of their fields', async () => {
    const categories = { entity: Category };
    class Public extends CrudController({
      ...categories,
      endpoint: '/api/categories',
      fieldPermissions: { name: { read: ['ADMIN'] } },
      access: { read: 'public' },
    }) {}
    class Admin extends CrudController({ ...categories, endpoint: '/api/all', access: { read: ['ADMIN'] } }) {}
    const through = (controller: typeof Public) => {
      const includableRelations = [{ relation: 'category', controller }] as const;
      const products = CrudController({ ...OPTIONS.Product, includableRelations });
      return tableOfResources('express', { controllers: [Public, Admin, products] });
    };
    expect(widerOf(changesBetween(await through(Public), await through(Admin)))).toEqual([
      'nobody, USER, STAFF: Category through Product.category: name was not readable, is readable',
    ]);
  });

  it('are wider if a filter or links are added', async () => {
    const [before, filtered, linked] = await Promise.all(
      [{}, { filterableFields: ['tags.name'] }, { linkableRelations: ['tags'] }].map((more) =>
        tableOf('express', { options: { Product: { ...more } } }),
      ),
    );
    const known = await tableOf('express', { options: { Product: { includableRelations: ['category', 'tags'] } } });
    const also = { includableRelations: ['category', 'tags'] };
    const knownLinked = await tableOf('express', { options: { Product: { ...also, linkableRelations: ['tags'] } } });
    const knownFiltered = await tableOf('express', {
      options: { Product: { ...also, filterableFields: ['tags.name'] } },
    });
    expect(widerOf(changesBetween(before!, filtered!))).toEqual([
      'everybody: Tag through Product.tags: was none, is all',
    ]);
    expect(widerOf(changesBetween(linked!, knownLinked))).toContain(
      'everybody: Tag through Product.tags: name was not readable, is readable',
    );
    expect(widerOf(changesBetween(known, knownLinked))).toEqual([
      'STAFF, ADMIN: the relation Product.tags was not writable, is writable',
    ]);
    expect(widerOf(changesBetween(known, knownFiltered))).toEqual([]);
  });

  it('are wider for callers who had no operation that answers records', async () => {
    const product = (includes: boolean) => ({
      options: {
        Product: {
          operations: ['exists'],
          enableExists: true,
          enableBatch: false,
          enableRestore: false,
          access: { read: 'public' },
        },
        Order: includes ? { includableRelations: ['product'], filterableFields: [] } : { filterableFields: [] },
      },
    });
    const changes = changesBetween(await tableOf('express', product(false)), await tableOf('express', product(true)));
    expect(widerOf(changes)).toEqual(['USER, ADMIN, STAFF: Product through Order.product: was none, is all']);
  });
});

it('finds a new column wider where nobody needs a token to read it', async () => {
  const after = await tableOf('express');
  const before = {
    ...after,
    resources: after.resources.map((each) => ({
      ...each,
      fields: Object.fromEntries(
        Object.entries(each.fields).filter(([name]) => name !== 'quantity' && name !== 'name'),
      ),
    })),
  };
  expect(changesBetween(before, after).filter(({ sentence }) => /quantity|Product.name/.test(sentence))).toEqual([
    { kind: 'wider', sentence: 'nobody: Product.name is new and readable' },
    { kind: 'new', sentence: 'USER, STAFF, ADMIN: Product.name is new and readable' },
    { kind: 'new', sentence: 'USER, STAFF, ADMIN: Order.quantity is new and readable' },
  ]);
});
