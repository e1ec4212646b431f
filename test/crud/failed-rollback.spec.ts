/** Transactions whose rollback fails, which must not leave their connection inside of them. */
import { administration, AuthModule, AuthUser, CrudController, type HookContext, UserAccounts } from 'declarest';
import {
  Column,
  DataSource,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { linesOf } from '../harness/platforms.js';
import { authorizationOf, TEST_SECRET } from '../harness/tokens.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Plain {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20, unique: true }) name!: string;
}

@Entity()
class Account extends AuthUser {}

type Step = 'beforeTransactionRollback' | 'beforeTransactionCommit' | 'afterTransactionStart';
let failing: Step | undefined;
const failIf = (step: Step): void => {
  if (failing === step) throw new Error('tracer is down');
};

@EventSubscriber()
class Tracer implements EntitySubscriberInterface {
  afterTransactionStart(): void {
    failIf('afterTransactionStart');
  }
  beforeTransactionCommit(): void {
    failIf('beforeTransactionCommit');
  }
  beforeTransactionRollback(): void {
    failIf('beforeTransactionRollback');
  }
}

class Plains extends CrudController({ entity: Plain, endpoint: '/plain', enableBatch: true }) {
  override beforeUpdate(): void {
    throw new Error('refused');
  }
}

/** Its connection breaks while a record is created. */
class Breaking extends CrudController({ entity: Plain, endpoint: '/breaking' }) {
  override async whenCreated(_record: unknown, { manager }: HookContext): Promise<void> {
    const connection = (await manager.queryRunner?.connect()) as { end(): Promise<void>; destroy(): void };
    if (manager.connection.options.type === 'postgres') await connection.end();
    else connection.destroy();
    await manager.insert(Plain, { name: 'never' });
  }
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  /** What another connection sees: only what is committed. */
  let stored: () => Promise<string[]>;

  beforeEach(async () => {
    failing = undefined;
    const auth = AuthModule.forRoot({
      userClass: Account,
      jwtSecret: TEST_SECRET,
      bcryptRounds: 4,
      defaultAccess: 'public',
      plugins: [administration()],
    });
    service = await startCrud('express', {
      database,
      entities: [Plain, Account],
      resources: [Plains, Breaking],
      imports: [auth],
      dataSource: { subscribers: [Tracer], poolSize: 3 } as never,
      isDescribed: false,
    });
    const { options } = service.dataSource;
    const other = await new DataSource({ ...options, synchronize: false, subscribers: [] }).initialize();
    stored = async () => (await other.getRepository(Plain).find({ order: { id: 'ASC' } })).map(({ name }) => name);
    closing.push(() => other.destroy());
  });
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    failing = undefined;
    for (const close of closing.splice(0)) await close();
    await service.close();
  });

  const writeTen = async (): Promise<void> => {
    const names = Array.from({ length: 10 }, (_, index) => `later ${index}`);
    const answers = await Promise.all(names.map((name) => service.post('/plain', { name })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    expect((await stored()).slice(1).toSorted()).toEqual(names);
  };

  it.each<[string, Step, () => Promise<{ status: number }>]>([
    ['a hook', 'beforeTransactionRollback', () => service.send('PATCH', '/plain/1', { json: { name: 'two' } })],
    [
      'a taken value of a batch',
      'beforeTransactionRollback',
      () => service.post('/plain/batch', { items: [{ name: 'two' }, { name: 'one' }] }),
    ],
    [
      'a subscriber before the commit',
      'beforeTransactionCommit',
      () => service.post('/plain/batch', { items: [{ name: 'two' }, { name: 'three' }] }),
    ],
    [
      'a subscriber at the start',
      'afterTransactionStart',
      () => service.post('/plain/batch', { items: [{ name: 'two' }, { name: 'three' }] }),
    ],
  ])('[4.3] after a refusal by %s, later writes are stored', async (_, step, refuse) => {
    expect((await service.post('/plain', { name: 'one' })).status).toBe(201);
    failing = step;
    expect((await refuse()).status).toBeGreaterThanOrEqual(400);
    expect(await stored()).toEqual(['one']);
    failing = undefined;
    await writeTen();
    if (step === 'beforeTransactionRollback')
      expect(linesOf(service.logs, 'error').join()).toContain(
        'A transaction could not be rolled back (tracer is down)',
      );
  });

  it('[2.2] accounts too: a failed change of an administrator', async () => {
    const accounts = service.app.get(UserAccounts);
    expect((await service.post('/plain', { name: 'one' })).status).toBe(201);
    const admin = { password: 'long enough 1', role: 'ADMIN' };
    const { id } = await accounts.create({ ...admin, email: 'a@x.example' });
    await accounts.create({ ...admin, email: 'b@x.example' });
    const json = { role: 'USER' };
    const headers = authorizationOf({ sub: Number(id), roles: ['ADMIN'] });
    failing = 'beforeTransactionCommit';
    expect((await service.send('PATCH', `/api/auth/users/${id}`, { json, headers })).status).toBe(500);
    failing = undefined;
    await writeTen();
    expect((await accounts.list({})).users.map(({ role }) => role)).toEqual(['ADMIN', 'ADMIN']);
  });

  it.runIf(database !== 'sqlite')('a connection that breaks inside of a transaction is dropped', async () => {
    expect((await service.post('/plain', { name: 'one' })).status).toBe(201);
    expect((await service.post('/breaking', { name: 'lost' })).status).toBeGreaterThanOrEqual(500);
    expect(await stored()).toEqual(['one']);
    await writeTen();
  });
});
