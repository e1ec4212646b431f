/** Hooks after the write and before the commit, and hooks of several classes. */
import { ConflictException, Controller, type Type } from '@nestjs/common';
import {
  CrudController,
  type CrudRecord,
  type GeneratedControllerClass,
  type HookContext,
  type HookValues,
} from 'declarest';
import {
  Column,
  DeleteDateColumn,
  Entity,
  type EntityManager,
  PrimaryGeneratedColumn,
  type QueryRunner,
  VersionColumn,
} from 'typeorm';
import { DATABASES, emptyTables } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { crudError, type CrudService, startCrud } from './service.js';

@Entity()
class Invoice {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'int', default: 0 }) cost!: number;
  @Column({ type: 'varchar', length: 20, nullable: true, select: false }) secret!: string | null;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Entity()
class Entry {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) event!: string;
  @Column({ type: 'int' }) invoiceId!: number;
  @Column({ length: 80 }) text!: string;
}

const ran: string[] = [];

/** Refuses by title, writes an entry for everything else, and sums up by a statement of its own. */
class InvoicesController extends CrudController({
  entity: Invoice,
  endpoint: '/invoices',
  enableBatch: true,
  enableRestore: true,
  deletedRoles: ['ADMIN'],
  fieldPermissions: { cost: { read: 'never', write: 'never' } },
}) {
  async note(manager: EntityManager, event: string, record: CrudRecord<Invoice>, before?: CrudRecord<Invoice>) {
    if (record.title === `no ${event}`) throw new ConflictException(`${event} is refused`);
    const show = ({ title, cost }: CrudRecord<Invoice>): string => `${title} ${cost}`;
    expect(Object.keys(record).includes('secret')).toBe(false);
    const text = before ? `${show(before)} > ${show(record)}` : show(record);
    await manager.insert(Entry, { event, invoiceId: record.id, text });
  }
  override async whenCreated(record: CrudRecord<Invoice>, { manager }: HookContext) {
    await this.note(manager, 'created', record);
    await manager.increment(Invoice, { id: record.id }, 'version', 10);
  }
  override whenUpdated(record: CrudRecord<Invoice>, before: CrudRecord<Invoice>, { manager }: HookContext) {
    return this.note(manager, 'updated', record, before);
  }
  override whenDeleted(record: CrudRecord<Invoice>, { manager }: HookContext) {
    return this.note(manager, 'deleted', record);
  }
  override whenRestored(record: CrudRecord<Invoice>, { manager }: HookContext) {
    return this.note(manager, 'restored', record);
  }
}

const PLACES = ONE_PLATFORM.flatMap((platform) => DATABASES.map((database) => ({ platform, database })));

describe.each(PLACES)(
  '[8.9] [issue 16] hooks before the commit on $platform and $database',
  ({ platform, database }) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, { database, entities: [Invoice, Entry], resources: [InvoicesController] });
    });
    beforeEach(() => emptyTables(service.dataSource, database));
    afterAll(() => service.close());

    const entries = async (): Promise<string[]> => {
      const found = await service.dataSource.getRepository(Entry).find({ order: { id: 'ASC' } });
      await service.dataSource.getRepository(Entry).clear();
      return found.map(({ event, invoiceId, text }) => `${event} ${invoiceId}: ${text}`);
    };
    const titles = async (): Promise<string[]> => {
      const found = await service.dataSource.getRepository(Invoice).find({ order: { id: 'ASC' } });
      return found.map(({ title }) => title);
    };
    const status = async (method: string, path: string, json?: object): Promise<number> =>
      (await service.send(method, `/invoices${path}`, json && { json })).status;

    it('get the record as it is stored, and the one before', async () => {
      const created = await service.post('/invoices', { title: 'a' });
      // The answer is read after the hook.
      expect(created.json.data).toEqual({ id: 1, title: 'a', version: 11 });
      expect(created.headers['etag']).toBe('"11"');
      await service.dataSource.getRepository(Invoice).update(1, { cost: 7 });
      expect(await status('PATCH', '/1', { title: 'b' })).toBe(200);
      expect(await status('PUT', '/1', { title: 'c' })).toBe(200);
      expect(await status('DELETE', '/1')).toBe(200);
      expect(await status('POST', '/1/restore')).toBe(200);
      // Nothing is restored.
      expect(await status('POST', '/1/restore')).toBe(200);
      expect(await entries()).toEqual([
        'created 1: a 0',
        'updated 1: a 7 > b 7',
        'updated 1: b 7 > c 7',
        'deleted 1: c 7',
        'restored 1: c 7',
      ]);
    });

    it('run once for each item of a batch', async () => {
      expect(await status('POST', '/batch', { items: [{ title: 'a' }, { title: 'b' }] })).toBe(201);
      const items = [
        { id: 2, title: 'd' },
        { id: 1, title: 'c' },
      ];
      expect(await status('PATCH', '/batch', { items })).toBe(200);
      expect(await status('DELETE', '/batch?ids=1,2')).toBe(200);
      expect(await entries()).toEqual([
        'created 1: a 0',
        'created 2: b 0',
        'updated 2: b 0 > d 0',
        'updated 1: a 0 > c 0',
        'deleted 1: c 0',
        'deleted 2: d 0',
      ]);
    });

    it('refuse the write by an exception, and roll everything back', async () => {
      expect(await status('POST', '', { title: 'no created' })).toBe(409);
      expect(await status('POST', '/batch', { items: [{ title: 'a' }, { title: 'no created' }] })).toBe(409);
      expect([await titles(), await entries()]).toEqual([[], []]);
      for (const title of ['a', 'no deleted', 'no restored']) await status('POST', '', { title });
      const [first] = await service.dataSource.getRepository(Invoice).find({ order: { id: 'ASC' } });
      const { id = 0 } = first ?? {};
      await entries();
      expect(await status('PATCH', `/${id}`, { title: 'no updated' })).toBe(409);
      expect(await status('PUT', `/${id}`, { title: 'no updated' })).toBe(409);
      expect(await status('DELETE', `/${id + 1}`)).toBe(409);
      expect(await status('DELETE', `/batch?ids=${id},${id + 1}`)).toBe(409);
      expect([await titles(), await entries()]).toEqual([['a', 'no deleted', 'no restored'], []]);
      expect(await status('DELETE', `/${id + 2}`)).toBe(200);
      expect(await status('POST', `/${id + 2}/restore`)).toBe(409);
      expect([await titles(), await entries()]).toEqual([['a', 'no deleted'], [`deleted ${id + 2}: no restored 0`]]);
    });

    it('do not run for a record that is missing or refused', async () => {
      expect(await status('PATCH', '/9', { title: 'b' })).toBe(404);
      expect(await status('DELETE', '/9')).toBe(404);
      await status('POST', '', { title: 'a' });
      await entries();
      const headers = { 'if-match': '"1"' };
      for (const method of ['PATCH', 'DELETE']) {
        const options = { headers, ...(method === 'PATCH' && { json: { title: 'b' } }) };
        expect((await service.send(method, '/invoices/1', options)).status).toBe(412);
      }
      expect(await entries()).toEqual([]);
    });
  },
);

/** Tells after the commit, and how many records the database has then. */
class TellingController extends CrudController({ entity: Invoice, endpoint: '/telling', enableBatch: true }) {
  override whenUpdated(record: CrudRecord<Invoice>, _before: CrudRecord<Invoice>, context: HookContext): void {
    const { afterCommit, manager } = context;
    afterCommit(async () => {
      const { title } = record;
      ran.push(`${title} ${await manager.connection.getRepository(Invoice).countBy({ title })}`);
      if (title === 'broken') throw new Error('It broke.');
    });
    if (record.title === 'refused') throw new ConflictException();
  }
}

it.each(PLACES)('[8.9] afterCommit runs work before the response on $platform and $database', async (place) => {
  ran.length = 0;
  const resources = [TellingController];
  const service = await startCrud(place.platform, { database: place.database, entities: [Invoice], resources });
  for (const title of ['a', 'b']) await service.post('/telling', { title });
  const patch = async (path: string, json: object): Promise<number> =>
    (await service.send('PATCH', `/telling${path}`, { json })).status;
  const items = (...titles: string[]): object => ({ items: titles.map((title, index) => ({ id: index + 1, title })) });
  expect([await patch('/1', { title: 'c' }), ran]).toEqual([200, ['c 1']]);
  expect([await patch('/1', { title: 'refused' }), ran]).toEqual([409, ['c 1']]);
  expect([await patch('/batch', items('d', 'refused')), ran]).toEqual([409, ['c 1']]);
  expect([await patch('/batch', items('e', 'e')), ran]).toEqual([200, ['c 1', 'e 2', 'e 2']]);
  expect([await patch('/1', { title: 'broken' }), ran.at(-1)]).toEqual([200, 'broken 1']);
  expect(service.logs.join('\n')).toContain('afterCommit of Invoice failed.');
  await service.close();
});

/** Tells which hook ran for which record, and whether the transaction was open. */
class OrderedController extends CrudController({ entity: Invoice, endpoint: '/ordered', enableBatch: true }) {
  private runner: QueryRunner | undefined;
  /** Without a context: whether the transaction of the hook before is open. */
  tell(hook: string, record: unknown, context?: HookContext): void {
    if (context) this.runner = context.manager.queryRunner;
    ran.push(`${hook} ${record} ${this.runner?.isTransactionActive ? 'in it' : 'after it'}`);
  }
  override whenCreated({ title }: CrudRecord<Invoice>, context: HookContext): void {
    this.tell('whenCreated', title, context);
  }
  override whenUpdated({ title }: CrudRecord<Invoice>, _before: CrudRecord<Invoice>, context: HookContext): void {
    this.tell('whenUpdated', title, context);
  }
  override whenDeleted({ title }: CrudRecord<Invoice>, context: HookContext): void {
    this.tell('whenDeleted', title, context);
  }
  override afterCreate({ title }: CrudRecord<Invoice>): void {
    this.tell('afterCreate', title);
  }
  override afterUpdate({ title }: CrudRecord<Invoice>): void {
    this.tell('afterUpdate', title);
  }
  override afterDelete(id: number): void {
    this.tell('afterDelete', id);
  }
}

it.each(PLACES)(
  '[8.9] when hooks run in the transaction and after hooks after it, each in the order of the items, on $platform and $database',
  async ({ platform, database }) => {
    ran.length = 0;
    const service = await startCrud(platform, { database, entities: [Invoice], resources: [OrderedController] });
    await service.post('/ordered', { title: 'a' });
    await service.post('/ordered/batch', { items: [{ title: 'b' }, { title: 'c' }] });
    const items = [
      { id: 3, title: 'd' },
      { id: 1, title: 'e' },
    ];
    await service.send('PATCH', '/ordered/batch', { json: { items } });
    await service.del('/ordered/batch?ids=3,1');
    expect(ran).toEqual([
      'whenCreated a in it',
      'afterCreate a after it',
      'whenCreated b in it',
      'whenCreated c in it',
      'afterCreate b after it',
      'afterCreate c after it',
      'whenUpdated d in it',
      'whenUpdated e in it',
      'afterUpdate d after it',
      'afterUpdate e after it',
      'whenDeleted d in it',
      'whenDeleted e in it',
      'afterDelete 3 after it',
      'afterDelete 1 after it',
    ]);
    await service.close();
  },
);

/** As a mixin of an application: it extends any generated controller of invoices. */
function Audited(Base: GeneratedControllerClass<Invoice>) {
  class AuditedController extends Base {
    override beforeCreate(values: HookValues<Invoice>): object {
      ran.push(`mixin beforeCreate ${values.title}`);
      return { title: `${values.title} mixed`, cost: 1 };
    }
    override beforeUpdate(id: number, values: HookValues<Invoice>): HookValues<Invoice> | undefined {
      ran.push(`mixin beforeUpdate ${id} ${values.title}`);
      return { title: `${values.title}!` };
    }
    override afterCreate(record: CrudRecord<Invoice>): void {
      ran.push(`mixin afterCreate ${record.title}`);
    }
    override whenDeleted(record: CrudRecord<Invoice>): void {
      ran.push(`mixin whenDeleted ${record.title}`);
    }
  }
  return AuditedController;
}

class MixedController extends Audited(CrudController({ entity: Invoice, endpoint: '/mixed' })) {
  override beforeCreate(values: HookValues<Invoice>): object {
    ran.push(`own beforeCreate ${values.title} ${values.cost}`);
    return { cost: 2 };
  }
  override beforeUpdate(id: number, values: HookValues<Invoice>): undefined {
    ran.push(`own beforeUpdate ${id} ${values.title}`);
  }
  override afterCreate(record: CrudRecord<Invoice>): void {
    ran.push(`own afterCreate ${record.title} ${record.cost}`);
  }
}

describe.each(ONE_PLATFORM)('[8.9] [issue 16] hooks of a mixin and of its subclass on %s', (platform) => {
  it('both run, that of the mixin first, and pass on what they return', async () => {
    ran.length = 0;
    const service = await startCrud(platform, { entities: [Invoice], resources: [MixedController] });
    try {
      const { json } = await service.post('/mixed', { title: 'a' });
      expect(json.data).toMatchObject({ title: 'a mixed', cost: 2 });
      expect((await service.send('PATCH', '/mixed/1', { json: { title: 'b' } })).json.data.title).toBe('b!');
      expect((await service.del('/mixed/1')).status).toBe(200);
      expect(ran).toEqual([
        'mixin beforeCreate a',
        'own beforeCreate a mixed 1',
        'mixin afterCreate a mixed',
        'own afterCreate a mixed 2',
        'mixin beforeUpdate 1 b',
        'own beforeUpdate 1 b!',
        'mixin whenDeleted b!',
      ]);
    } finally {
      await service.close();
    }
  });

  it('count as code of the application: they need a second connection of the pool', async () => {
    const names = ['whenCreated', 'whenUpdated', 'whenDeleted', 'whenRestored'];
    const classes = names.map((name): Type => {
      class Hooked extends CrudController({ entity: Invoice, endpoint: `/${name.toLowerCase()}` }) {}
      Object.defineProperty(Hooked.prototype, name, { value: () => undefined });
      return Hooked;
    });
    for (const [index, resource] of classes.entries()) {
      const options = { database: 'postgres' as const, dataSource: { poolSize: 1 }, entities: [Invoice] };
      if (!DATABASES.includes('postgres')) continue;
      const { message } = await crudError(platform, { ...options, resources: [resource] });
      expect(message).toContain(`has the hook ${names[index]}`);
    }
  });

  it('may not be the handler of a route', async () => {
    const { Get } = await import('@nestjs/common');
    @Controller()
    class Routed extends CrudController({ entity: Invoice, endpoint: '/routed' }) {
      @Get('x') override whenCreated(): void {}
    }
    const { message } = await crudError(platform, { entities: [Invoice], resources: [Routed] });
    expect(message).toContain('whenCreated must be a hook without a route');
  });
});
