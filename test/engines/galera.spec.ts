/**
 * Races of three instances on three nodes of a Galera cluster, whose locks hold on one node only. Outside of CI:
 *
 *     TEST_GALERA_URLS="$(scripts/engines/galera <folder>)" npx vitest run test/engines
 *
 * GALERA_RUNS sets how often each race runs (20).
 */
import { Injectable, type OnModuleInit, type Type, UnauthorizedException } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { administration, AuthModule, CrudModule, sessions, UserAccounts } from 'declarest';
import { oidc } from 'declarest-logins/oidc';
import { Passkey, passkeys } from 'declarest-logins/passkeys';
import { Column, type DataSource, DataSource as Source, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { ManyToOne, type Relation, Tree, TreeChildren, TreeParent } from 'typeorm';
import { Attempts } from '../../lib/auth/throttle/attempts.js';
import { ExternalIdentities } from '../../packages/declarest-logins/src/oidc/external-identities.js';
import { PasskeyStore } from '../../packages/declarest-logins/src/passkeys/passkey-store.js';
import { NO_PASSWORD } from '../../lib/auth/passwords/password-hasher.js';
import { AUTH, PASSWORD } from '../auth/auth-app.js';
import { request } from '../harness/client.js';
import { type RootModule, type RunningApp, startApp } from '../harness/platforms.js';

const URLS = process.env['TEST_GALERA_URLS']?.split(' ') ?? [];
const RUNS = Number(process.env['GALERA_RUNS'] ?? 20);

@Entity()
@Tree('materialized-path')
class Folder {
  @PrimaryGeneratedColumn() id!: number;
  @TreeParent() parent!: Relation<Folder> | null;
  @TreeChildren() children!: Relation<Folder>[];
}

@Entity()
@Tree('closure-table')
class Unit {
  @PrimaryGeneratedColumn() id!: number;
  @TreeParent() parent!: Relation<Unit> | null;
  @TreeChildren() children!: Relation<Unit>[];
}

@Entity()
@Tree('nested-set')
class Chapter {
  @PrimaryGeneratedColumn() id!: number;
  @TreeParent() parent!: Relation<Chapter> | null;
  @TreeChildren() children!: Relation<Chapter>[];
}

@Entity()
@Tree('nested-set')
class Region {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @TreeParent() parent!: Relation<Region> | null;
  @TreeChildren() children!: Relation<Region>[];
}

@Entity()
class Category {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: 0 }) changes!: number;
}

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @ManyToOne(() => Category) category!: Relation<Category> | null;
}

const ENTITIES = [Folder, Unit, Chapter, Region, Category, Item];
const ACCOUNT_TRIES = 50;
const PROVIDER = {
  issuer: 'http://127.0.0.1:1',
  clientId: 'shop',
  clientSecret: 'unused',
  redirectUris: ['http://localhost/login'],
};
const rootOf = (url: string, synchronize: boolean, providers: Type[] = []): RootModule => ({
  imports: [
    TypeOrmModule.forRoot({
      type: 'mariadb',
      url: databaseOf(url),
      charset: 'utf8mb4',
      entities: ENTITIES,
      autoLoadEntities: true,
      synchronize,
    }),
    AuthModule.forRoot({
      ...AUTH,
      plugins: [
        sessions(),
        administration(),
        passkeys({ rpId: 'localhost', origins: ['http://localhost'] }),
        oidc({ providers: { main: PROVIDER } }),
      ],
      throttle: { storage: 'database', accountTries: ACCOUNT_TRIES, addressTries: 1_000_000 },
    }),
    CrudModule.forFeature(
      ...ENTITIES.map((entity) => ({
        entity,
        endpoint: `/${entity.name.toLowerCase()}`,
        maxListSize: 100,
        // TypeORM cannot move a node of a nested set.
        ...((entity === Chapter || entity === Region) && { operations: ['create', 'findAll'] as const }),
      })),
    ),
  ],
  providers,
});

/** Creates the first administrator as soon as an instance can. */
@Injectable()
class Seed implements OnModuleInit {
  constructor(private readonly accounts: UserAccounts) {}

  async onModuleInit(): Promise<void> {
    const { id } = await this.accounts.ensure({ email: 'first@shop.example', password: PASSWORD, role: 'ADMIN' });
    Seed.ids.push(Number(id));
  }

  static ids: number[] = [];
}

const databaseOf = (url: string): string => url.replace(/\/\w+$/, '/races');

describe.skipIf(URLS.length < 3)('three nodes of Galera', () => {
  let instances: RunningApp[];
  let dataSource: DataSource;

  beforeAll(async () => {
    const server = await new Source({ type: 'mariadb', url: URLS[0] as string }).initialize();
    await server.query('DROP DATABASE IF EXISTS races');
    await server.query('CREATE DATABASE races CHARACTER SET utf8mb4');
    await server.destroy();
    instances = [];
    for (const [index, url] of URLS.entries()) instances.push(await startApp('express', rootOf(url, index === 0)));
    dataSource = instances[0]!.app.get(Source);
  }, 120_000);
  afterAll(async () => {
    for (const each of instances ?? []) await each.close();
  });

  const send = (instance: number, method: string, path: string, json?: object, token?: string) =>
    request(instances[instance]!.url, method, path, { ...(json && { json }), ...(token && { token }) });
  const isRefused = (status: number): boolean => [400, 401, 403, 409, 503].includes(status);

  /** Two administrators, each with a token. */
  async function administrators(run: string) {
    const accounts = instances[0]!.app.get(UserAccounts);
    await dataSource.getRepository(AUTH.userClass).update({ role: 'ADMIN' }, { role: 'USER' });
    const all = [];
    for (const name of ['a', 'b']) {
      const email = `${name}-${run}@shop.example`;
      const { id } = await accounts.create({ email, password: PASSWORD, role: 'ADMIN' });
      const { json } = await send(0, 'POST', '/api/auth/login', { email, password: PASSWORD });
      all.push({ id, token: json.data.token as string });
    }
    return all as [{ id: number; token: string }, { id: number; token: string }];
  }
  const activeAdmins = () => dataSource.getRepository(AUTH.userClass).countBy({ role: 'ADMIN', active: true });

  it.each([
    ['deactivate each other', 'PATCH', (id: number) => `users/${id}`, { active: false }],
    ['demote each other', 'PATCH', (id: number) => `users/${id}`, { role: 'USER' }],
    ['delete themselves', 'DELETE', () => 'me', { password: PASSWORD }],
  ] as const)(
    'keep one administrator where two %s',
    async (what, method, path, body) => {
      for (let run = 0; run < RUNS; run += 1) {
        const [a, b] = await administrators(`${what.slice(0, 4)}${run}`);
        const answers = await Promise.all([
          send(0, method, `/api/auth/${path(b.id)}`, body, a.token),
          send(1, method, `/api/auth/${path(a.id)}`, body, b.token),
        ]);
        const statuses = answers.map(({ status }) => status);
        expect([run, statuses, await activeAdmins()]).toEqual([run, statuses, 1]);
        expect(statuses.filter(isRefused)).toHaveLength(1);
      }
    },
    300_000,
  );

  it('keep the last passkey of a user without a password', async () => {
    const { id } = await instances[0]!.app.get(UserAccounts).create({ email: 'key@shop.example', password: PASSWORD });
    await dataSource.getRepository(AUTH.userClass).update({ id: Number(id) }, { password: NO_PASSWORD });
    const own = dataSource.getRepository(Passkey);
    const stores = instances.map(({ app }) => app.get(PasskeyStore, { strict: false }));
    for (let run = 0; run < RUNS; run += 1) {
      const ids = ['one', 'two'].map((name) => `${name}${run}`);
      await own.clear();
      for (const each of ids)
        await own.insert(own.create({ ...passkeyOf(each), userId: String(id), createdAt: Date.now() } as never));
      const results = await Promise.all(
        ids.map((each, index) => stores[index]!.remove(String(id), each).catch((error: Error) => error.name)),
      );
      expect([run, results, await own.count()]).toEqual([run, results, 1]);
    }
  }, 300_000);

  it('keep the last identity of a user without a password', async () => {
    const { id } = await instances[0]!.app.get(UserAccounts).create({ email: 'oidc@shop.example', password: PASSWORD });
    await dataSource.getRepository(AUTH.userClass).update({ id: Number(id) }, { password: NO_PASSWORD });
    const all = instances.map(({ app }) => app.get(ExternalIdentities, { strict: false }));
    for (let run = 0; run < RUNS; run += 1) {
      await all[0]!.removeAll(String(id));
      const linked = [];
      for (const subject of ['one', 'two'])
        linked.push(
          await all[0]!.link(String(id), { ...PROVIDER, provider: 'main', subject, email: undefined, claims: {} }),
        );
      const results = await Promise.all(
        linked.map((each, index) => all[index]!.unlink(String(id), each.id).catch((error: Error) => error.name)),
      );
      expect([run, results, await all[2]!.listOf(String(id))]).toEqual([run, results, [expect.anything()]]);
      expect(results.toSorted()).toEqual(['ConflictException', true].toSorted());
    }
  }, 300_000);

  it.each(['folder', 'unit'])(
    'make no cycle in the tree %s',
    async (tree) => {
      const root = (await send(0, 'POST', `/${tree}`, { parentId: null })).json.data.id as number;
      for (let run = 0; run < RUNS; run += 1) {
        const [a, b] = await Promise.all([0, 1].map(() => send(0, 'POST', `/${tree}`, { parentId: root })));
        const [one, two] = [a!.json.data.id, b!.json.data.id] as [number, number];
        const answers = await Promise.all([
          send(1, 'PATCH', `/${tree}/${one}`, { parentId: two }),
          send(2, 'PATCH', `/${tree}/${two}`, { parentId: one }),
        ]);
        const statuses = answers.map(({ status }) => status);
        const parents = await dataSource.query<{ id: number; parentId: number }[]>(
          `SELECT id, parentId FROM ${tree} WHERE id IN (${one}, ${two})`,
        );
        const isCycle = parents.every(({ parentId }) => parentId === one || parentId === two);
        expect([run, statuses, isCycle]).toEqual([run, statuses, false]);
        expect(statuses).toContain(200);
      }
    },
    300_000,
  );

  it.each(['chapter', 'region'])(
    'make one root of the empty nested set %s',
    async (tree) => {
      for (let run = 0; run < RUNS; run += 1) {
        await dataSource.query(`DELETE FROM ${tree}`);
        const answers = await Promise.all([0, 1, 2].map((node) => send(node, 'POST', `/${tree}`, { parentId: null })));
        const statuses = answers.map(({ status }) => status);
        const roots = await dataSource.query<{ id: unknown; parentId: unknown }[]>(`SELECT id, parentId FROM ${tree}`);
        const answered = answers
          .flatMap(({ json }) => (json.data as { id: unknown } | undefined)?.id ?? [])
          .map(String);
        expect([run, statuses, roots.map(({ id }) => String(id))]).toEqual([run, statuses, answered]);
        expect(statuses.toSorted()).toEqual([201, 409, 409]);
      }
    },
    300_000,
  );

  it('create one first administrator where all instances start at once', async () => {
    const users = dataSource.getRepository(AUTH.userClass);
    for (let run = 0; run < RUNS; run += 1) {
      await users.delete({ email: 'first@shop.example' });
      Seed.ids = [];
      const started = await Promise.all(URLS.map((url) => startApp('express', rootOf(url, false, [Seed]))));
      for (const each of started) await each.close();
      const { id } = await users.findOneByOrFail({ email: 'first@shop.example' });
      expect([run, Seed.ids]).toEqual([run, URLS.map(() => Number(id))]);
    }
  }, 300_000);

  it('try no more passwords than on one node', async () => {
    const attempts = instances.map(({ app }) => app.get(Attempts, { strict: false }));
    for (let run = 0; run < RUNS; run += 1) {
      const errors: Record<string, number> = {};
      let tried = 0;
      const guess = (number: number): Promise<void> =>
        attempts[number % 3]!.run(
          { action: 'password', account: `guessed${run}`, address: `10.${run}.1.${number}` },
          async () => {
            tried += 1;
            throw new UnauthorizedException();
          },
        ).catch((error: Error) => void (errors[error.name] = (errors[error.name] ?? 0) + 1));
      await Promise.all(Array.from({ length: 250 }, (_, number) => guess(number)));
      expect([run, tried, errors]).toEqual([run, ACCOUNT_TRIES, errors]);
    }
  }, 300_000);

  it('repeat what an account endpoint loses to another node', async () => {
    const own = dataSource.getRepository(Passkey);
    await own.clear();
    await own.insert(own.create({ ...passkeyOf('shared'), userId: '1', createdAt: Date.now() } as never));
    const stores = instances.map(({ app }) => app.get(PasskeyStore, { strict: false }));
    const lost: unknown[] = [];
    for (let run = 0; run < RUNS; run += 1)
      await Promise.all(
        [0, 1, 2, 0, 1, 2].map((node, index) =>
          stores[node]!.rename('1', 'shared', `${run} ${index}`).catch((error: Error) => lost.push(error.message)),
        ),
      );
    expect(lost).toEqual([]);
  }, 300_000);

  it('answer the id of the stored record while other nodes change the row that it refers to', async () => {
    const { id } = (await send(0, 'POST', '/category', {})).json.data as { id: number };
    let changes = 0;
    const end = new AbortController();
    const change = async (node: number): Promise<void> => {
      while (!end.signal.aborted) await send(node, 'PATCH', `/category/${id}`, { changes: (changes += 1) });
    };
    const changing = [change(1), change(2)];
    const created: { status: number; id: number | undefined; name: string }[] = [];
    const writer = async (part: number): Promise<void> => {
      for (let run = 0; run < RUNS * 5; run += 1) {
        const name = `item ${part} ${run}`;
        const { status, json } = await send(0, 'POST', '/item', { name, categoryId: id });
        created.push({ status, id: json?.data?.id as number | undefined, name });
      }
    };
    await Promise.all([0, 1, 2, 3].map(writer)).finally(() => end.abort());
    await Promise.all(changing);
    const stored = await dataSource.getRepository(Item).find();
    const known = new Map(stored.map((each) => [each.name, each.id]));
    const wrong = created.filter(({ status, id: answered, name }) =>
      status === 201 ? known.get(name) !== answered : known.has(name) || status !== 503,
    );
    expect(wrong).toEqual([]);
  }, 300_000);

  it('answer the id of the user who was stored, while another node changes the table', async () => {
    const end = new AbortController();
    const alter = async (): Promise<void> => {
      const other = instances[1]!.app.get(Source);
      for (let version = 0; !end.signal.aborted; version += 1)
        await other.query(`ALTER TABLE ${other.getMetadata(AUTH.userClass).tableName} COMMENT 'version ${version}'`);
    };
    const altering = alter();
    const wrong: unknown[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const email = `user${run}@races.example`;
      const { status, json } = await send(0, 'POST', '/api/auth/register', { email, password: PASSWORD });
      const stored = await dataSource.getRepository(AUTH.userClass).findOneBy({ email });
      const isRight = status === 201 ? Number(json.data.user.id) === Number(stored?.id) : status === 503 && !stored;
      if (!isRight) wrong.push([status, json, stored?.id]);
    }
    end.abort();
    await altering;
    expect(wrong).toEqual([]);
  }, 300_000);
});

/** A row of the table of passkeys, whose values nobody checks here. */
const passkeyOf = (id: string): object => ({
  id,
  name: id,
  credentialId: id,
  handle: 'h',
  publicKey: 'k',
  counter: 0,
  transports: '',
  backedUp: false,
});
