/** `Idempotency-Key` on each database and platform. */
import { Body, Injectable, Post } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { CrudController, IdempotencyKey, type JsonObject, type Principal } from 'declarest';
import {
  Column,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  MoreThan,
  PrimaryGeneratedColumn,
  type Repository,
  VersionColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { claims, makeToken } from '../harness/tokens.js';
import { crudError, type CrudParts, type CrudService, failure, startCrud, success, wrongFields } from './service.js';
import { refusal } from '../harness/refusal.js';

@Entity()
class Order {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 20, unique: true, nullable: true }) number!: string | null;
  @Column({ type: 'int', nullable: true }) ownerId!: number | null;
  @Column({ type: 'int', default: 1 }) shopId!: number;
  @Column({ type: 'simple-json', nullable: true }) lines!: unknown;
  @Column({ type: 'text', nullable: true }) note!: string | null;
  @Column({ type: 'text', nullable: true }) note2!: string | null;
  @VersionColumn() version!: number;
}

/** What an override waits for, and what it does. */
const override = { calls: 0, wait: Promise.resolve(), fails: false };

class CustomController extends CrudController({ entity: Order, endpoint: '/custom', enableIdempotency: true }) {
  @Post()
  override async create(body: JsonObject) {
    override.calls += 1;
    await override.wait;
    const created = await super.create(body);
    if (override.fails) throw new TypeError('The override fails after the write.');
    return { ...created, data: { ...created.data, more: 'ü\u{1F600}' } };
  }
}

class OtherController extends CrudController({ entity: Order, endpoint: '/other', enableIdempotency: true }) {}

/** Serves the generated route by a method of another name, and writes three times, first to another resource. */
@Injectable()
class RenamedController extends CrudController({
  entity: Order,
  endpoint: '/renamed',
  enableIdempotency: true,
  operations: ['findAll', 'findById'],
}) {
  constructor(private readonly moduleRef: ModuleRef) {
    super();
  }

  @Post('')
  async order(@Body() body: JsonObject): Promise<unknown> {
    await this.moduleRef.get(OtherController).create({});
    const first = await super.create(body);
    await super.create({});
    return first;
  }
}

/** Fails while an answer is stored, after the write. */
@EventSubscriber()
class FailsToStore implements EntitySubscriberInterface {
  static fails = false;

  listenTo(): typeof IdempotencyKey {
    return IdempotencyKey;
  }

  beforeUpdate(): void {
    if (FailsToStore.fails) throw new TypeError('The answer cannot be stored.');
  }
}

const ann = makeToken({ payload: claims({ sub: '1' }) });
const bob = makeToken({ payload: claims({ sub: '2' }) });

/** A scope that takes a connection for a while. */
const slowly = { query: (): Promise<unknown> => Promise.resolve() };
const queried = async ({ user }: { user?: Principal | undefined }) => {
  for (let times = 0; times < 5; times += 1) await slowly.query();
  return { ownerId: Number(user?.id) };
};

const only = ({ user }: { user?: Principal | undefined }) => ({ ownerId: Number(user?.id) });

interface Service extends CrudService {
  /** Sends a POST with an `Idempotency-Key`. */
  postAs: (user: string | undefined, key: string | undefined, json: unknown, path?: string) => Promise<Answer>;
  orders: () => Promise<number>;
  keys: Repository<IdempotencyKey>;
}

async function start(platform: Platform, parts: CrudParts = {}): Promise<Service> {
  const service = await startCrud(platform, {
    entities: [Order, IdempotencyKey],
    resources: [
      { entity: Order, endpoint: '/orders', enableIdempotency: true, enableBatch: true },
      { entity: Order, endpoint: '/scoped', enableIdempotency: true, scope: only },
      { entity: Order, endpoint: '/queried', enableIdempotency: true, scope: queried },
      { entity: Order, endpoint: '/shops/:shopId/orders', enableIdempotency: true },
      {
        entity: Order,
        endpoint: '/hiding',
        enableIdempotency: true,
        enableBatch: true,
        fieldPermissions: { note: { read: ['CLERK'] }, version: { read: ['CLERK'] } },
      },
      { entity: Order, endpoint: '/off' },
      CustomController,
      OtherController,
      RenamedController,
    ],
    imports: [authModule({ defaultAccess: 'public' })],
    ...parts,
    dataSource: { subscribers: [FailsToStore], ...parts.dataSource } as NonNullable<CrudParts['dataSource']>,
  });
  return {
    ...service,
    postAs: (token, key, json, path = '/orders') =>
      request(service.url, 'POST', path, {
        json,
        ...(token !== undefined && { token }),
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      }),
    orders: () => service.dataSource.getRepository(Order).count(),
    keys: service.dataSource.getRepository(IdempotencyKey),
  };
}

const isReplay = ({ headers }: Answer): boolean => headers['idempotency-replayed'] === 'true';
const statusOf = ({ status }: Answer): number => status;
const bytesOf = ({ status, text, headers }: Answer): unknown => [
  status,
  text,
  ...['location', 'etag', 'content-type'].map((name) => headers[name]),
];
const RUNNING = failure('A request with this Idempotency-Key is still running: repeat it after a second');
const OTHER = failure('Idempotency-Key was sent with another body before: repeat that one, or send a new key');

/** Of parallel requests with one key, one writes; the others get its answer, or 409. */
function expectOne(answers: readonly Answer[]): void {
  const written = answers.filter((answer) => answer.status === 201 && !isReplay(answer));
  expect(written).toHaveLength(1);
  for (const answer of answers.filter((each) => each !== written[0]))
    if (isReplay(answer)) expect(bytesOf(answer)).toEqual(bytesOf(written[0]!));
    else expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([409, RUNNING, '1']);
}

const WHERE = DATABASES.flatMap((database) => [
  { database, platform: 'express', path: 'compiled' } as const,
  { database, platform: 'fastify', path: 'repository' } as const,
]);

describe.each(WHERE)('on $database, $platform, $path', ({ platform, ...parts }) => {
  let service: Service;
  let send: Service['postAs'];
  let before: number;
  /** The number of orders that the test has added. */
  const added = async (): Promise<number> => (await service.orders()) - before;
  beforeAll(async () => {
    service = await start(platform, parts);
    send = service.postAs;
    slowly.query = () => service.dataSource.query('SELECT 1');
  });
  beforeEach(async () => {
    before = await service.orders();
    Object.assign(override, { calls: 0, wait: Promise.resolve(), fails: false });
  });
  afterAll(() => service.close());

  it('[8.6] gives the first answer again for the same key, user, path and body', async () => {
    const first = await send(ann, 'same', { number: 'n1', lines: { a: 1, b: [{ c: 2, d: 3 }] } });
    const { id } = first.json.data;
    expect([first.status, first.headers['location'], first.headers['etag'], isReplay(first)]).toEqual([
      201,
      `/orders/${id}`,
      '"1"',
      false,
    ]);
    const changed = await request(service.url, 'PATCH', `/off/${id}`, { json: { note: 'changed since' } });
    expect(changed.status).toBe(200);
    for (const body of [
      { number: 'n1', lines: { a: 1, b: [{ c: 2, d: 3 }] } },
      { lines: { b: [{ d: 3, c: 2 }], a: 1 }, number: 'n1' },
    ]) {
      const again = await send(ann, 'same', body);
      expect([bytesOf(again), isReplay(again)]).toEqual([bytesOf(first), true]);
    }
    for (const [body, path] of [
      [{ number: 'n1', lines: { a: 1, b: [{ c: 2, d: 4 }] } }],
      [{ number: 'n1', lines: { a: 1, b: [{ c: 2, d: 3 }, {}] } }],
      [{ number: 'n1' }],
      [{ number: 'n1', lines: { a: 1, b: [{ c: 2, d: 3 }] } }, '/orders?x=1'],
    ] as const) {
      const other = await send(ann, 'same', body, path);
      expect([other.status, other.json, isReplay(other)]).toEqual([422, OTHER, false]);
    }
    expect(await added()).toBe(1);
  });

  it('[8.6] [9.3] leaves out of a replay what the caller may no longer read', async () => {
    const clerk = makeToken({ payload: claims({ sub: '1', roles: ['CLERK'] }) });
    for (const [path, body] of [
      ['/hiding', { note: 'internal' }],
      ['/hiding/batch', { items: [{ note: 'internal' }] }],
    ] as const) {
      const first = await send(clerk, 'hiding', body, path);
      const same = await send(clerk, 'hiding', body, path);
      const later = await send(ann, 'hiding', body, path);
      expect([first.status, isReplay(same), isReplay(later), later.status]).toEqual([201, true, true, 201]);
      expect(bytesOf(same)).toEqual(bytesOf(first));
      const [record] = [first.json.data as object | object[]].flat();
      const { note, version, ...rest } = record as Record<string, unknown>;
      expect([note, version, [later.json.data as object].flat()]).toEqual(['internal', 1, [rest]]);
      expect(later.headers['etag']).not.toBe('"1"');
    }
  });

  it('[8.6] writes again for another key, user or path, and without a key', async () => {
    const answers = [
      await send(ann, 'k', {}),
      await send(ann, 'K', {}),
      await send(bob, 'k', {}),
      await send(ann, 'k', {}, '/custom'),
      await send(ann, 'k', {}, '/shops/1/orders'),
      await send(ann, 'k', {}, '/shops/2/orders'),
      await send(ann, undefined, {}),
      await send(ann, undefined, {}),
      await send(undefined, undefined, {}),
      await send(ann, 'k', {}, '/off'),
      await send(ann, 'k', {}, '/off'),
    ];
    expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual(answers.map(() => [201, false]));
    expect(await added()).toBe(answers.length);
    for (const shopId of [1, 2]) {
      const change = { token: ann, headers: { 'idempotency-key': 'k' }, json: { shopId } };
      const patched = await service.send('PATCH', `/orders/${answers[0]!.json.data.id}`, change);
      expect([patched.json.data.shopId, isReplay(patched)]).toEqual([shopId, false]);
    }
    const replayed = await send(bob, 'k', {});
    expect([replayed.json.data.id, isReplay(replayed)]).toEqual([answers[2]!.json.data.id, true]);
  });

  it('[8.2] [8.6] gives the first answer to a batch again, and refuses a key with atomic=false', async () => {
    const items = [{ number: 'b1' }, { number: 'b2' }];
    const first = await send(ann, 'batch', { items }, '/orders/batch');
    const again = await send(ann, 'batch', { items }, '/orders/batch');
    expect([first.status, bytesOf(again), isReplay(again)]).toEqual([201, bytesOf(first), true]);
    const separate = await send(ann, 'separate', { items: [{}] }, '/orders/batch?atomic=false');
    expect([separate.status, separate.json]).toEqual([
      400,
      failure('atomic=false cannot be combined with Idempotency-Key or another transaction'),
    ]);
    expect(await added()).toBe(2);
  });

  it('[8.6] keeps no refused request', async () => {
    const keys = await service.keys.count();
    expect(wrongFields(await send(ann, 'r', { colour: 1 }))).toEqual(['colour']);
    expect(statusOf(await send(ann, undefined, { number: 'r' }))).toBe(201);
    expect(statusOf(await send(ann, 'r', { number: 'r' }))).toBe(409);
    expect(statusOf(await send(ann, 'r', { ownerId: 2 }, '/scoped'))).toBe(403);
    expect([await service.keys.count(), await added()]).toEqual([keys, 1]);
    const corrected = await send(ann, 'r', { number: 'r2' });
    expect([corrected.status, isReplay(corrected)]).toEqual([201, false]);
    expect(isReplay(await send(ann, 'r', { number: 'r2' }))).toBe(true);
    const scoped = await send(ann, 'r', { ownerId: 1 }, '/scoped');
    expect([scoped.status, isReplay(scoped)]).toEqual([201, false]);
  });

  it('[8.6] stores the answer in the transaction of the write', async () => {
    const keys = await service.keys.count();
    FailsToStore.fails = true;
    expect(statusOf(await send(ann, 'tx', {}))).toBe(500);
    FailsToStore.fails = false;
    expect([await added(), await service.keys.count()]).toEqual([0, keys]);
    expect(statusOf(await send(ann, 'tx', {}))).toBe(201);
    expect([await added(), await service.keys.count()]).toEqual([1, keys + 1]);
  });

  it('[8.6] keeps an answer for 24 hours, and deletes at most 10 expired ones with each new one', async () => {
    const { keys } = service;
    await keys.clear();
    const now = Date.now();
    await send(ann, 'old', {});
    const [row] = await keys.find();
    expect((row!.expiresAt - now) / 3_600_000).toBeGreaterThanOrEqual(24);
    expect((row!.expiresAt - now) / 3_600_000).toBeLessThan(24.1);
    await keys.update({ id: row!.id }, { expiresAt: Date.now() + 60_000 });
    expect(isReplay(await send(ann, 'old', {}))).toBe(true);
    await keys.update({ id: row!.id }, { expiresAt: Date.now() });
    const again = await send(ann, 'old', {});
    expect([again.status, isReplay(again), await added(), await keys.count()]).toEqual([201, false, 2, 1]);
    await keys.insert(Array.from({ length: 15 }, (_, id) => ({ id: String(id), request: '', expiresAt: id })));
    await send(ann, 'new', {});
    expect((await keys.findBy({ request: '' })).map(({ expiresAt }) => expiresAt).toSorted()).toEqual([
      10, 11, 12, 13, 14,
    ]);
    await send(ann, 'newer', {});
    expect([await keys.count(), await keys.countBy({ expiresAt: MoreThan(now) })]).toEqual([3, 3]);
  });

  it('[8.6] replays what an override answered, and holds for every method that calls super.create', async () => {
    const first = await send(ann, 'o', {}, '/custom');
    expect(first.json).toMatchObject({ data: { more: 'ü\u{1F600}' } });
    const again = await send(ann, 'o', {}, '/custom');
    expect([bytesOf(again), isReplay(again), override.calls]).toEqual([bytesOf(first), true, 1]);
    // The first write, to another resource, does not store the key.
    expect(wrongFields(await send(ann, 'o', { colour: 1 }, '/renamed'))).toEqual(['colour']);
    const renamed = await send(ann, 'o', {}, '/renamed');
    expect(statusOf(renamed)).toBe(201);
    expect(bytesOf(await send(ann, 'o', {}, '/renamed'))).toEqual(bytesOf(renamed));
    expect(await added()).toBe(5);
    override.fails = true;
    expect(statusOf(await send(ann, 'p', { number: 'p' }, '/custom'))).toBe(500);
    override.fails = false;
    // The write is committed: the answer is that of the operation.
    const repeated = await send(ann, 'p', { number: 'p' }, '/custom');
    expect([repeated.status, isReplay(repeated)]).toEqual([201, true]);
    expect(repeated.json).toEqual(success('Order created', expect.objectContaining({ number: 'p' })));
    expect(await added()).toBe(6);
  });

  it('[8.6] replays a body of more than 64 kB', async () => {
    const note = 'ü'.repeat(22_000);
    const first = await send(ann, 'long', { note, note2: note });
    expect(first.text.length).toBeGreaterThan(44_000);
    expect(bytesOf(await send(ann, 'long', { note, note2: note }))).toEqual(bytesOf(first));
  });

  it('[8.6] of 50 parallel requests with one key one writes', async () => {
    for (const path of ['/orders', '/scoped', '/custom'])
      expectOne(await Promise.all(Array.from({ length: 50 }, () => send(ann, 'race', { ownerId: 1 }, path))));
    expect(await added()).toBe(3);
  });

  it('[8.6] runs a scope that queries the database before the transaction, so that no pool runs dry', async () => {
    // Each request would hold a connection and wait for another one, and none would ever be answered.
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => send(ann, `pool-${index}`, { ownerId: 1 }, '/queried')),
    );
    expect(new Set(answers.map(statusOf))).toEqual(new Set([201]));
    expect(await added()).toBe(60);
  });

  it('[8.6] of parallel requests to two applications one writes', async () => {
    const { options } = service.dataSource;
    const other = await start(platform, {
      ...parts,
      dataSource: {
        database: options.database,
        ...('url' in options && { url: options.url }),
        synchronize: false,
      } as NonNullable<CrudParts['dataSource']>,
    });
    const services = [service, other];
    for (const number of ['two', 'apps'])
      expectOne(
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => services[index % 2]!.postAs(ann, number, { number })),
        ),
      );
    await other.close();
    expect(await added()).toBe(2);
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: Service;
  beforeAll(async () => {
    service = await start(platform, { imports: [authModule({ defaultAccess: 'public' })] });
  });
  afterAll(() => service.close());

  it('[8.6] returns 409 with Retry-After while the first request is running', async () => {
    const send = service.postAs;
    const before = await service.orders();
    let finish: () => void = () => {};
    override.wait = new Promise((resolve) => (finish = resolve));
    override.calls = 0;
    const first = send(ann, 'k', {}, '/custom');
    while (override.calls === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const body of [{}, { colour: 1 }]) {
      const early = await send(ann, 'k', body, '/custom');
      expect([early.status, early.json, early.headers['retry-after']]).toEqual([409, RUNNING, '1']);
    }
    expect(statusOf(await send(bob, 'k', {}))).toBe(201);
    finish();
    expect(statusOf(await first)).toBe(201);
    expect(isReplay(await send(ann, 'k', {}, '/custom'))).toBe(true);
    expect(await service.orders()).toBe(before + 2);
  });

  it('[8.6] returns 400 for a malformed or repeated key, and for an anonymous caller', async () => {
    const send = service.postAs;
    const before = await service.orders();
    const malformed = failure('Idempotency-Key must be 1 to 255 visible ASCII characters');
    for (const key of ['', 'a b', 'x'.repeat(256), 'ü', 'a\tb']) {
      const answer = await send(ann, key, {});
      expect([key, answer.status, answer.json]).toEqual([key, 400, malformed]);
    }
    const headers = ['Idempotency-Key: a', 'idempotency-key: a', `Authorization: Bearer ${ann}`];
    const twice = await rawTarget(service.port, '/orders', {
      method: 'POST',
      headers: [...headers, 'Content-Type: application/json'],
      body: '{}',
    });
    expect([twice.status, JSON.parse(twice.body)]).toEqual([400, failure('Idempotency-Key must be sent once')]);
    const anonymous = await send(undefined, 'a', {});
    expect([anonymous.status, anonymous.json]).toEqual([
      400,
      failure('Idempotency-Key requires an authenticated user'),
    ]);
    expect(await service.orders()).toBe(before);
    for (const key of ['x'.repeat(255), '"!~"', 'a,b']) expect(statusOf(await send(ann, key, {}))).toBe(201);
  });

  it('[8.6] refuses a body that is not a JSON object as without a key', async () => {
    const before = await service.orders();
    const send = (body: string, type: string, key: object) =>
      service.send('POST', '/orders', { token: ann, body, headers: { 'content-type': type, ...key } });
    const deep = `{"lines":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    for (const [body, type] of [
      ['{', 'application/json'],
      ['[]', 'application/json'],
      [deep, 'application/json'],
      ['{}', 'text/plain'],
    ] as const) {
      const [keyed, unkeyed] = [await send(body, type, { 'idempotency-key': 'k' }), await send(body, type, {})];
      expect(keyed.status).toBeGreaterThanOrEqual(400);
      expect([keyed.status, keyed.json.message]).toEqual([unkeyed.status, unkeyed.json.message]);
    }
    expect(await service.orders()).toBe(before);
  });

  it('[8.6] applies the access rules before it replays an answer', async () => {
    const strict = await start(platform, { imports: [authModule({ defaultAccess: 'authenticated' })] });
    expect(statusOf(await strict.postAs(ann, 'k', {}))).toBe(201);
    const refused = await strict.postAs(undefined, 'k', {});
    expect([refused.status, refused.json]).toEqual([401, refusal('Authentication required')]);
    await strict.close();
  });

  it('[8.6] refuses to boot without the entity IdempotencyKey in the data source', async () => {
    const resource = { entity: Order, endpoint: '/orders' };
    const parts = { entities: [Order], resources: [{ ...resource, enableIdempotency: true }] };
    expect((await crudError(platform, parts)).message).toBe(
      'CRUD option `enableIdempotency` of Order must be used with the entity IdempotencyKey in the data source, got a data source that does not know it. Add IdempotencyKey of declarest to `entities`, or set `autoLoadEntities` and import CrudModule.forFeature(…).',
    );
    const wrong = { ...parts, resources: () => [{ ...resource, enableIdempotency: 'yes' as never }] };
    expect((await crudError(platform, wrong)).message).toContain('`enableIdempotency` of Order must be true or false');
    const loaded = await startCrud(platform, { resources: parts.resources });
    expect(loaded.dataSource.hasMetadata(IdempotencyKey)).toBe(true);
    await loaded.close();
  });
});
