/** Transactions whose rollback fails, which must not leave their connection inside of them. */
import { AuthModule, AuthUser, CrudController, UserAccounts } from 'declarest';
import {
  Column,
  DataSource,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { runTransaction } from '../../lib/database/transactions.js';
import { DATABASES } from '../harness/databases.js';
import { linesOf } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
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
    });
    service = await startCrud('express', {
      database,
      entities: [Plain, Account],
      resources: [Plains],
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

  it('[2.2] accounts too: a refused change of the last administrator', async () => {
    const accounts = service.app.get(UserAccounts);
    expect((await service.post('/plain', { name: 'one' })).status).toBe(201);
    const user = await accounts.create({ email: 'a@x.example', password: 'long enough 1', role: 'ADMIN' });
    failing = 'beforeTransactionCommit';
    await service.dataSource.query('SELECT 1');
    const { dataSource } = service;
    await expect(
      runTransaction(dataSource, (manager) => manager.update(Account, { id: user.id }, { role: 'USER' })),
    ).rejects.toThrow('tracer is down');
    failing = undefined;
    await writeTen();
    expect((await accounts.list({})).users.map(({ role }) => role)).toEqual(['ADMIN']);
  });

  it.runIf(database !== 'sqlite')('a connection that breaks inside of a transaction is dropped', async () => {
    expect((await service.post('/plain', { name: 'one' })).status).toBe(201);
    const { dataSource } = service;
    const broken = runTransaction(dataSource, async (manager) => {
      await manager.insert(Plain, { name: 'lost' });
      const connection = (await manager.queryRunner?.connect()) as { end(): Promise<void>; destroy(): void };
      if (database === 'postgres') await connection.end();
      else connection.destroy();
      await manager.insert(Plain, { name: 'never' });
    });
    await expect(broken).rejects.toThrow();
    expect(await stored()).toEqual(['one']);
    await writeTen();
  });
});
