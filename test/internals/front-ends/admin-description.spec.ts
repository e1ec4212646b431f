/** What `AdminFor` reads from the OpenAPI document: resources, and the kinds of their fields. */
import { Body, Module, Post } from '@nestjs/common';
import { ApiOperation, ApiProperty } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, CrudController, CrudModule } from 'declarest';
import { diskStorage, FileColumn, FileCrudController, type StoredFile } from 'declarest-files';
import { waysIn } from 'declarest-logins/administration';
import { apiKeys } from 'declarest-logins/api-keys';
import { secondFactor } from 'declarest-logins/second-factor';
import {
  Column,
  CreateDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { compileDocument, inApplication } from '../../../lib/cli/compile-application.js';
import { parseBigInteger } from '../../../packages/ra-data-declarest/admin/src/big-integer.js';
import { moneyOf } from '../../../packages/ra-data-declarest/admin/src/money.js';
import {
  describeResources,
  describeService,
  type FieldDescription,
  type ResourceDescription,
} from 'ra-data-declarest/description';
import { configure, shop } from '../../../sample-app/access.js';
import { type CrudService, startCrud } from '../../crud/service.js';
import { PLATFORMS } from '../../harness/platforms.js';
import { TEST_SECRET } from '../../harness/tokens.js';

type Resources = Readonly<Record<string, ResourceDescription>>;

const byName = <T extends { readonly name: string }>(items: readonly T[]): Record<string, T> =>
  Object.fromEntries(items.map((each) => [each.name, each]));

const fieldOf = (resource: ResourceDescription | undefined, name: string): FieldDescription | undefined =>
  resource?.fields.find((field) => field.name === name);

describe('the resources of the sample', () => {
  let document: object;
  let resources: Resources;
  beforeAll(async () => {
    document = await inApplication({ module: shop, configure } as never, 'express', compileDocument);
    resources = byName(describeResources(document, '/api'));
  });

  it('are the paginated lists below the base', () => {
    const names = ['products', 'orders', 'users', 'categories', 'auth/users', 'products/:productId/reviews'];
    expect(Object.keys(resources)).toEqual(names);
  });

  it('have the operations of the document', () => {
    const operations = (name: string): unknown => {
      const { hasSearch, canShow, canCreate, canEdit, title } = resources[name]!;
      return { hasSearch, canShow, canCreate, canEdit, title };
    };
    expect(operations('products')).toEqual({
      hasSearch: true,
      canShow: true,
      canCreate: true,
      canEdit: true,
      title: 'name',
    });
    expect(operations('orders')).toMatchObject({ hasSearch: false, canCreate: true, canEdit: true });
    expect(operations('users')).toEqual({
      hasSearch: true,
      canShow: true,
      canCreate: false,
      canEdit: false,
      title: 'email',
    });
    expect(operations('auth/users')).toMatchObject({ hasSearch: true, canShow: false, canEdit: true });
  });

  it('take the label and the currencies of hints', () => {
    const hints = { products: { label: 'description', currency: { price: 'EUR' } } };
    const [products] = describeService(document, '/api', hints).resources;
    expect(products!.title).toBe('description');
    expect(fieldOf(products, 'price')?.currency).toBe('EUR');
    expect(fieldOf(products, 'stock')).not.toHaveProperty('currency');
  });

  it.each([
    [{ wares: {} }, 'hints must name some of products, orders, users'],
    [{ products: { label: 'serial' } }, 'hints.products.label must name some of id, '],
    [{ products: { currency: { sum: 'EUR' } } }, 'hints.products.currency must name some of id, '],
    [{ products: { currency: { price: 'euro' } } }, 'must have codes of ISO 4217 such as EUR, got euro.'],
  ])('refuse the hints %j', (hints, message) => {
    expect(() => describeService(document, '/api', hints)).toThrow(message);
  });

  it.each([
    ['12.50', '1250'],
    ['-12345678901234567890.125', '12345678901234567890125'],
    [7, '700'],
  ])('show the amount %j with all its digits', (amount, digits) => {
    const text = moneyOf(amount, 'EUR');
    expect(text).toMatch(/€|EUR/);
    expect(text.replaceAll(/\D/g, '')).toBe(digits);
  });

  it('show what is no amount as it is', () => {
    expect([moneyOf('NaN', 'EUR'), moneyOf(null, 'EUR')]).toEqual(['NaN', '']);
  });

  it('have fields of the kinds of their columns', () => {
    const kinds = resources['products']!.fields.map(({ name, kind }) => [name, kind]);
    expect(Object.fromEntries(kinds)).toEqual({
      id: 'number',
      name: 'text',
      description: 'long text',
      price: 'number',
      cost: 'number',
      stock: 'number',
      categoryId: 'number',
      deletedAt: 'date-time',
      version: 'number',
    });
  });

  it('say which fields are required, written by the server, sorted and filtered', () => {
    expect(fieldOf(resources['products'], 'name')).toEqual({
      name: 'name',
      kind: 'text',
      isRequired: true,
      isReadable: true,
      isSortable: true,
      isCreatable: true,
      isEditable: true,
      filter: 'part',
    });
    expect(fieldOf(resources['products'], 'description')).toMatchObject({ isRequired: false, isSortable: false });
    expect(fieldOf(resources['products'], 'description')).not.toHaveProperty('filter');
    expect(fieldOf(resources['products'], 'price')).toMatchObject({ filter: 'bounds' });
    expect(fieldOf(resources['products'], 'version')).toMatchObject({ isCreatable: false, isEditable: false });
    expect(fieldOf(resources['orders'], 'placedAt')).toMatchObject({
      kind: 'date-time',
      isCreatable: false,
      filter: 'bounds',
    });
  });

  it('say which roles read and write a field', () => {
    expect(fieldOf(resources['products'], 'cost')).toMatchObject({ readers: ['ADMIN'], writers: ['ADMIN'] });
    expect(fieldOf(resources['orders'], 'customerId')).toMatchObject({ writers: ['ADMIN'] });
    expect(fieldOf(resources['products'], 'price')).not.toHaveProperty('readers');
  });

  it('refer to each other by an included relation, or by the name of a key', () => {
    const category = { reference: 'categories', relation: 'category', filter: 'value' };
    expect(fieldOf(resources['products'], 'categoryId')).toMatchObject(category);
    expect(fieldOf(resources['orders'], 'productId')).toMatchObject({ reference: 'products', filter: 'value' });
    expect(fieldOf(resources['orders'], 'productId')).not.toHaveProperty('relation');
    expect(fieldOf(resources['orders'], 'customerId')).not.toHaveProperty('reference');
  });

  it('say how deleted records are seen, and what else the server does', () => {
    const { deletion, hasExport, actions } = resources['products']!;
    expect(deletion).toEqual({ field: 'deletedAt', canRestore: true, roles: ['ADMIN'] });
    expect([hasExport, actions]).toEqual([true, []]);
    expect(resources['orders']).toMatchObject({ hasExport: false });
    expect(resources['orders']).not.toHaveProperty('deletion');
  });

  it('have the users of the accounts, with what administrators filter by, change and do', () => {
    const { accounts, fields, actions } = resources['auth/users']!;
    expect(accounts).toEqual({});
    expect(fields.flatMap(({ name, filter }) => (filter ? [[name, filter]] : []))).toEqual([
      ['role', 'value'],
      ['active', 'value'],
    ]);
    const edited = fields.filter(({ isEditable }) => isEditable).map(({ name, kind }) => [name, kind]);
    expect(Object.fromEntries(edited)).toEqual({
      role: 'text',
      active: 'boolean',
      firstName: 'text',
      lastName: 'text',
    });
    expect(actions.map(({ name, method }) => [name, method])).toEqual([
      ['reset', 'post'],
      ['sessions', 'delete'],
    ]);
    expect(resources['users']).not.toHaveProperty('accounts');
  });

  it('suggest the roles that the document names for the users of the accounts', () => {
    const text = JSON.stringify(document)
      .replaceAll('Only ADMIN read it.', 'Only AUDITOR read it.')
      .replaceAll('Only for ADMIN.', 'Only for KEEPER.');
    const described = JSON.parse(text) as { paths: Record<string, { get: object }> };
    const access = 'CLERK or "shop \\"keeper\\"", and KEY, and policy owner';
    described.paths['/api/categories']!.get = { ...described.paths['/api/categories']!.get, 'x-access': { access } };
    const users = byName(describeService(described, '/api').resources)['auth/users'];
    expect(fieldOf(users, 'role')?.suggestions).toEqual([
      'ADMIN',
      'AUDITOR',
      'CLERK',
      'KEEPER',
      'STAFF',
      'USER',
      'shop "keeper"',
    ]);
    expect(fieldOf(resources['users'], 'role')).not.toHaveProperty('suggestions');
  });

  it('name the resource whose key is in their path', () => {
    expect(resources['products/:productId/reviews']?.parent).toEqual({ resource: 'products', parameter: 'productId' });
    expect(resources['products']).not.toHaveProperty('parent');
  });
});

@Entity()
class Clerk extends AuthUser {}

class Address {
  @Column({ length: 40 }) city!: string;
}

@Entity()
class Country {
  @PrimaryColumn({ length: 2 }) code!: string;
  @Column({ length: 40 }) title!: string;
}

@Entity()
class Parcel {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ type: 'varchar', length: 40, nullable: true }) carrier!: string | null;
  @Column(() => Address) address!: Address;
  @Column({ default: false }) isSent!: boolean;
  @Column({ type: 'simple-enum', enum: ['letter', 'box'], default: 'box' }) size!: string;
  @Column({ type: 'date', nullable: true }) due!: string | null;
  @Column({ type: 'datetime', nullable: true }) sentAt!: Date | null;
  @Column({ type: 'simple-json', nullable: true }) contents!: object | null;
  @Column('bigint') barcode!: string;
  @Column({ length: 64 }) secret!: string;
  @Column({ type: 'bigint', nullable: true }) seal!: string | null;
  @ManyToOne(() => Country, { nullable: true }) origin!: Relation<Country> | null;
  @CreateDateColumn() createdAt!: Date;
  @Column({ type: 'decimal', precision: 8, scale: 2 }) weight!: number;
  @ManyToMany(() => Country) @JoinTable() countries!: Relation<Country>[];
}

class Delivery {
  @ApiProperty({ description: 'Who takes it' }) receiver!: string;
  @ApiProperty({ required: false }) pieces?: number;
}

class ParcelsController extends CrudController({
  entity: Parcel,
  endpoint: '/parcels',
  enablePagination: true,
  filterableFields: true,
  sortableFields: ['barcode', 'origin.title'],
  includableRelations: ['origin'],
  linkableRelations: ['countries'],
  fieldPermissions: { secret: { read: 'never' }, seal: { read: 'never' } },
}) {
  @Post(':id/deliver')
  @ApiOperation({ summary: 'Deliver a parcel' })
  deliver(@Body() { receiver }: Delivery) {
    return { receiver };
  }

  @Post('sweep')
  sweep() {
    return { swept: true };
  }
}

@Entity()
class Scan {
  @PrimaryGeneratedColumn() id!: number;
  @FileColumn({ types: ['image/png', 'application/pdf'], maxBytes: 1_000 }) page!: StoredFile | null;
  @FileColumn({ types: ['application/zip'], maxBytes: 1_000 }) all!: StoredFile | null;
}

const SCANS = { entity: Scan, endpoint: '/scans', enablePagination: true } as const;
const storage = diskStorage('unused');

@Module({})
class ParcelService {}

describe('the resources of a service with columns of every kind', () => {
  let resources: Resources;
  beforeAll(async () => {
    const module = {
      module: ParcelService,
      imports: [
        TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true }),
        AuthModule.forRoot({
          userClass: Clerk,
          jwtSecret: TEST_SECRET,
          sessions: true,
          administration: true,
          authBasePath: '/accounts',
          plugins: [apiKeys(), secondFactor({ issuer: 'Parcels' }), waysIn()],
        }),
        CrudModule.forFeature(
          ParcelsController,
          FileCrudController(SCANS, storage),
          FileCrudController({ ...SCANS, endpoint: '/read', operations: ['findAll', 'findById'] }, storage),
          { entity: Country, endpoint: '/countries', enablePagination: 'cursor', enableBatch: true },
        ),
      ],
    };
    const document = await inApplication({ module } as never, 'express', compileDocument);
    resources = byName(describeResources(document, ''));
  });

  it('have a kind for each of them', () => {
    const fields = resources['parcels']!.fields.map(({ name, kind, filter }) => [name, kind, filter]);
    expect(fields).toEqual([
      ['id', 'text', 'value'],
      ['carrier', 'text', 'part'],
      ['isSent', 'boolean', 'value'],
      ['size', 'choice', 'value'],
      ['due', 'date', 'bounds'],
      ['sentAt', 'date-time', 'bounds'],
      ['contents', 'json', undefined],
      ['barcode', 'big integer', 'bounds'],
      ['createdAt', 'date-time', 'bounds'],
      ['weight', 'decimal', 'bounds'],
      ['originId', 'text', 'value'],
      ['address.city', 'text', 'part'],
      ['countriesIds', 'references', undefined],
      ['secret', 'text', undefined],
      ['seal', 'big integer', undefined],
    ]);
  });

  it('have choices, initial values, and fields that are only written', () => {
    expect(fieldOf(resources['parcels'], 'size')).toMatchObject({ choices: ['letter', 'box'], initial: 'box' });
    expect(fieldOf(resources['parcels'], 'isSent')?.initial).toBe(false);
    expect(fieldOf(resources['parcels'], 'secret')).toMatchObject({ isReadable: false, isCreatable: true });
    expect(fieldOf(resources['parcels'], 'originId')?.reference).toBe('countries');
  });

  it('are sorted by a field of the record that they refer to', () => {
    expect(fieldOf(resources['parcels'], 'originId')).toMatchObject({ isSortable: true, sortBy: 'origin.title' });
    expect(fieldOf(resources['parcels'], 'barcode')).not.toHaveProperty('sortBy');
  });

  it('say which fields may be empty, and which have keys of other records', () => {
    expect(fieldOf(resources['parcels'], 'due')).toMatchObject({ isNullable: true });
    expect(fieldOf(resources['parcels'], 'isSent')).not.toHaveProperty('isNullable');
    expect(fieldOf(resources['parcels'], 'countriesIds')?.reference).toBe('countries');
  });

  it('have the operations of the application, with what they take', () => {
    const [deliver, ...others] = resources['parcels']!.actions;
    expect(deliver).toMatchObject({ name: 'deliver', method: 'post', title: 'Deliver a parcel' });
    const fields = deliver!.fields.map(({ name, kind, isRequired }) => [name, kind, isRequired]);
    expect([fields, others]).toEqual([
      [
        ['receiver', 'text', true],
        ['pieces', 'number', false],
      ],
      [],
    ]);
    expect(resources['parcels']!.listActions).toEqual([{ name: 'sweep', method: 'post', fields: [] }]);
    expect(resources['countries']).toMatchObject({ actions: [], listActions: [] });
  });

  it('have files that are written below their record, with their types', () => {
    const file = { kind: 'file', isReadable: true, isCreatable: false };
    const page = { types: ['image/png', 'application/pdf'], isScaled: true };
    expect(fieldOf(resources['scans'], 'page')).toMatchObject({ ...file, isEditable: true, file: page });
    const all = { types: ['application/zip'], isScaled: false };
    expect(fieldOf(resources['scans'], 'all')).toMatchObject({ ...file, isEditable: true, file: all });
    expect(fieldOf(resources['read'], 'page')).toMatchObject({ ...file, isEditable: false });
    expect(resources['scans']!.actions).toEqual([]);
    expect(fieldOf(resources['parcels'], 'contents')).not.toHaveProperty('file');
  });

  it('have the proofs with which administrators revoke the ways in of a user', () => {
    const { accounts, actions } = resources['accounts/users']!;
    expect(accounts).toEqual({ proofs: ['password', 'code'] });
    // The key in the answer of `keys` is not shown.
    expect(actions.map(({ name }) => name)).toEqual(['sessions']);
  });

  it('are named by a text that is never empty, and that is no key', () => {
    expect(resources['parcels']?.title).toBe('address.city');
  });

  it('have the key that a batch requires', () => {
    expect(resources['countries']).toMatchObject({ key: ['code'], title: 'title' });
    expect(resources['parcels']).not.toHaveProperty('key');
  });
});

@Entity()
class Label {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'bigint', nullable: true }) barcode!: string | null;
}

describe.each(PLATFORMS)('the input of a 64-bit integer on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, { entities: [Label], resources: [{ entity: Label, endpoint: '/labels' }] });
  });
  afterAll(() => service.close());

  it.each<[string, unknown]>([
    ['', null],
    ['-7', -7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', '9007199254740993'],
  ])('sends %j so that the server keeps it exactly', async (text, expected) => {
    const { status, json } = await service.post('/labels', { barcode: parseBigInteger(text) });
    expect([status, json.data.barcode]).toEqual([201, expected]);
  });

  it.each(['-', '1.5', 'x'])('leaves it to the server to refuse %j', async (text) => {
    expect((await service.post('/labels', { barcode: parseBigInteger(text) })).status).toBe(400);
  });
});
