/**
 * What an application reads where a standby is behind the primary, through pgpool and through TypeORM's `replication`.
 * Outside of CI:
 *
 *     TEST_STANDBY_URLS="$(scripts/engines/pgpool <folder>)" npx vitest run test/engines/standbys.spec.ts
 *
 * STANDBY_RUNS sets how often each case runs (5).
 */
import { TypeOrmModule } from '@nestjs/typeorm';
import { administration, AuthModule, CrudModule, IdempotencyKey, sessions, UserAccounts } from 'declarest';
import { secondFactor } from 'declarest-logins/second-factor';
import {
  BeforeUpdate,
  Column,
  DataSource,
  Entity,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { Tree, TreeChildren, TreeParent } from 'typeorm';
import { AUTH, PASSWORD, uniqueEmail } from '../auth/auth-app.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { type RunningApp, startApp } from '../harness/platforms.js';
import { PASSKEYS, Person } from '../logins/passkeys/passkey-app.js';

const [POOLER = '', PRIMARY = '', STANDBY = ''] = process.env['TEST_STANDBY_URLS']?.trim().split(' ') ?? [];
const RUNS = Number(process.env['STANDBY_RUNS'] ?? 5);

@Entity()
class Desk {
  @PrimaryGeneratedColumn() id!: number;
  @Column() staffId!: number;
}

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @Column() ownerId!: number;
  @Column({ type: 'jsonb', nullable: true }) data!: object | null;
  @VersionColumn() version!: number;
}

@Entity()
class Paper {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @ManyToOne(() => Desk) desk!: Relation<Desk>;
}

@Entity()
class Heard {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @Column({ default: 0 }) changes!: number;

  @BeforeUpdate()
  count(): void {
    this.changes += 1;
  }
}

@Entity()
@Tree('materialized-path')
class Folder {
  @PrimaryGeneratedColumn() id!: number;
  @TreeParent() parent!: Relation<Folder> | null;
  @TreeChildren() children!: Relation<Folder>[];
}

const ENTITIES = [Desk, Note, Paper, Heard, Folder, IdempotencyKey];

const start = (connection: object): Promise<RunningApp> =>
  startApp('express', {
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', entities: ENTITIES, autoLoadEntities: true, ...connection }),
      AuthModule.forRoot({
        ...AUTH,
        plugins: [sessions(), administration(), secondFactor(), PASSKEYS],
        throttle: { storage: 'database', addressTries: 1_000_000 },
      }),
      CrudModule.forFeature(
        { entity: Note, endpoint: '/notes', maxListSize: 1_000, owner: { field: 'ownerId', reads: true } },
        { entity: Heard, endpoint: '/heard', maxListSize: 1_000 },
        { entity: Folder, endpoint: '/folders', maxListSize: 1_000 },
        { entity: Note, endpoint: '/shared', maxListSize: 1_000, owner: 'ownerId', enableIdempotency: true },
        {
          entity: Paper,
          endpoint: '/papers',
          maxListSize: 1_000,
          scope: ({ user }) => ({ desk: { staffId: Number(user?.id ?? 0) } }),
        },
      ),
    ],
  });

describe.skipIf(STANDBY === '')('with a standby that is behind', () => {
  let primary: DataSource;
  let standby: DataSource;

  beforeAll(async () => {
    primary = await new DataSource({ type: 'postgres', url: PRIMARY }).initialize();
    standby = await new DataSource({ type: 'postgres', url: STANDBY }).initialize();
    await primary.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await (await start({ url: PRIMARY, synchronize: true })).close();
    await caughtUp();
  }, 120_000);
  afterAll(async () => {
    for (const each of [primary, standby]) await each?.destroy();
  });

  /** Waits until the standby has all that the primary has. */
  async function caughtUp(): Promise<void> {
    const [{ end }] = await primary.query('SELECT pg_current_wal_lsn() AS "end"');
    for (;;) {
      // A commit of the primary lets time pass for the standby.
      await primary.query('SELECT pg_switch_wal()');
      const [{ done }] = await standby.query('SELECT pg_last_wal_replay_lsn() >= $1 AS done', [end]);
      if (done) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  describe('pgpool', () => {
    let apps: RunningApp[];
    beforeAll(async () => {
      apps = [await start({ url: POOLER }), await start({ url: POOLER })];
    }, 60_000);
    afterAll(async () => {
      for (const each of apps ?? []) await each.close();
    });

    const send = (instance: 0 | 1, method: string, path: string, json?: object, more: RequestOptions = {}) =>
      request(apps[instance]!.url, method, path, { ...(json && { json }), ...more });
    const registered = async () => {
      const email = uniqueEmail();
      const { json } = await send(0, 'POST', '/api/auth/register', { email, password: PASSWORD });
      return { email, id: Number(json.data.user.id), ...(json.data as { token: string; refreshToken: string }) };
    };
    const logIn = (email: string, password = PASSWORD) =>
      send(1, 'POST', '/api/auth/login', { email, password }).then(({ status }) => status);
    const accounts = () => apps[0]!.app.get(UserAccounts, { strict: false });
    const written = async () => {
      const user = await registered();
      const { json } = await send(0, 'POST', '/notes', { text: 'old', data: { a: 1 } }, { token: user.token });
      return { ...user, path: `/shared/${json.data.id as number}`, note: json.data.id as number };
    };

    it('answers from the standby where nothing is decided', async () => {
      const { note, token } = await written();
      expect((await send(1, 'GET', `/notes/${note}`, undefined, { token })).status).toBe(404);
    });

    const cases: Record<string, [expected: unknown, run: () => Promise<unknown>]> = {
      'register, then refresh, and once more when the standby has caught up': [
        [200, 200],
        async () => {
          const { refreshToken } = await registered();
          const first = await send(1, 'POST', '/api/auth/refresh', { refreshToken });
          await caughtUp();
          const again = await send(0, 'POST', '/api/auth/refresh', {
            refreshToken: first.json.data?.refreshToken ?? refreshToken,
          });
          return [first.status, again.status];
        },
      ],
      'register, then log in and read me': [
        [200, 200],
        async () => {
          const { email, token } = await registered();
          return [await logIn(email), (await send(1, 'GET', '/api/auth/me', undefined, { token })).status];
        },
      ],
      'a new password, then the old one and the new one': [
        [401, 200],
        async () => {
          const { email, id } = await registered();
          await accounts().setPassword(id, `${PASSWORD}!`);
          return [await logIn(email), await logIn(email, `${PASSWORD}!`)];
        },
      ],
      'deactivate, then log in and refresh': [
        [401, 401],
        async () => {
          const { email, id, refreshToken } = await registered();
          await accounts().setActive(id, false);
          return [await logIn(email), (await send(1, 'POST', '/api/auth/refresh', { refreshToken })).status];
        },
      ],
      'register by a passkey, list, add, rename and log in': [
        [201, 1, 201, 200, 200],
        async () => {
          const person = new Person(apps[0]!);
          const other = new Person(apps[1]!);
          Object.assign(other, { device: person.device, email: person.email });
          const { status } = await person.register();
          other.token = person.token;
          const listed = await other.list();
          const added = await other.add({ credential: await other.confirmation() });
          const renamed = await person.send('PATCH', `passkeys/${added.json.data.passkey.id}`, { name: 'Phone' });
          return [status, listed.length, added.status, renamed.status, (await other.logIn()).status];
        },
      ],
      'a stale If-Match, DELETE twice, PATCH of a deleted record': [
        [412, 200, 404, 404],
        async () => {
          const { path, token } = await written();
          const etag = '"1"';
          await send(0, 'PATCH', path, { text: 'new' }, { token });
          const stale = await send(1, 'PATCH', path, { text: 'newer' }, { token, headers: { 'if-match': etag } });
          const [first, second] = [
            await send(0, 'DELETE', path, undefined, { token }),
            await send(1, 'DELETE', path, undefined, { token }),
          ];
          const patched = await send(1, 'PATCH', path, { text: 'late' }, { token });
          return [stale, first, second, patched].map(({ status }) => status);
        },
      ],
      'PATCH by the owner before': [
        403,
        async () => {
          const { path, note, token } = await written();
          await caughtUp();
          await primary.query('UPDATE note SET "ownerId" = 0 WHERE id = $1', [note]);
          return (await send(1, 'PATCH', path, { text: 'taken' }, { token })).status;
        },
      ],
      'PATCH that merges JSON right after POST, and after another one': [
        [
          { a: 1, b: 2 },
          { a: 1, b: 2, c: 3 },
        ],
        async () => {
          const { path, token } = await written();
          const patch = (instance: 0 | 1, data: object) => send(instance, 'PATCH', path, { data }, { token });
          const answers: Answer[] = [await patch(1, { b: 2 }), await patch(0, { c: 3 })];
          return answers.map(({ status, json }) => (status === 200 ? json.data.data : status));
        },
      ],
      'the same Idempotency-Key on the other instance': [
        [201, 201, true],
        async () => {
          const { token } = await registered();
          const more = { token, headers: { 'idempotency-key': uniqueEmail() } };
          const [one, two] = [
            await send(0, 'POST', '/shared', { text: 'once' }, more),
            await send(1, 'POST', '/shared', { text: 'once' }, more),
          ];
          return [one.status, two.status, one.json.data?.id === two.json.data?.id];
        },
      ],
      'PATCH of a record with a listener right after POST, and after another one': [
        [1, 2],
        async () => {
          const { id } = (await send(0, 'POST', '/heard', { text: 'a' })).json.data as { id: number };
          const answers = [
            await send(1, 'PATCH', `/heard/${id}`, { text: 'b' }),
            await send(0, 'PATCH', `/heard/${id}`, { text: 'c' }),
          ];
          return answers.map(({ status, json }) => (status === 200 ? json.data.changes : status));
        },
      ],
      'a node below a new one, and then below another one': [
        [201, 201, 200, 409],
        async () => {
          const create = (instance: 0 | 1, parentId: number | null) => send(instance, 'POST', '/folders', { parentId });
          const [a, b] = [await create(0, null), await create(1, null)];
          const [one, two] = [a, b].map(({ json }) => json.data.id as number) as [number, number];
          const child = await create(1, one);
          const moved = await send(0, 'PATCH', `/folders/${one}`, { parentId: two });
          const cycle = await send(1, 'PATCH', `/folders/${two}`, { parentId: child.json.data.id as number });
          return [a.status, child.status, moved.status, cycle.status];
        },
      ],
      'enrol a second factor, then log in': [
        [200, 401],
        async () => {
          const { token, email } = await registered();
          const begun = await send(0, 'POST', '/api/auth/mfa/enrol', { password: PASSWORD }, { token });
          const wrong = await send(1, 'POST', '/api/auth/mfa/confirm', { code: '000000' }, { token });
          expect(await logIn(email)).toBe(200);
          return [begun.status, wrong.status];
        },
      ],
    };
    it.each(Object.keys(cases))(
      'decides on the primary: %s',
      async (name) => {
        const [expected, run] = cases[name] as (typeof cases)[string];
        await caughtUp();
        const results = [];
        for (let count = 0; count < RUNS; count += 1) results.push(await run());
        expect(results).toEqual(Array.from({ length: RUNS }, () => expected));
      },
      120_000,
    );
  });

  describe('`replication`, where a GET reads the standby', () => {
    let app: RunningApp;
    beforeAll(async () => {
      app = await start({ replication: { master: { url: PRIMARY }, slaves: [{ url: STANDBY }] } });
    }, 60_000);
    afterAll(() => app?.close());

    /** Reads until the answer is no longer 200. @returns the texts that it had, and for how many milliseconds */
    async function shownAfter(path: string, token: string): Promise<[texts: string[], ms: number]> {
      const begun = performance.now();
      const texts = new Set<string>();
      for (;;) {
        const { status, json } = await request(app.url, 'GET', path, { token });
        if (status !== 200) return [[...texts], performance.now() - begun];
        texts.add(String(json.data.text));
      }
    }
    const user = async () => {
      const { json } = await request(app.url, 'POST', '/api/auth/register', {
        json: { email: uniqueEmail(), password: PASSWORD },
      });
      return { id: Number(json.data.user.id), token: json.data.token as string };
    };

    it.each([
      ['notes', 'the owner', `UPDATE note SET "ownerId" = 0, text = 'after' WHERE id = $1`],
      [
        'papers',
        'the scope',
        `WITH moved AS (UPDATE desk SET "staffId" = 0) UPDATE paper SET text = 'after' WHERE id = $1`,
      ],
    ])(
      'a record of %s is shown as it was, and not as it is after %s has changed',
      async (path, _, change) => {
        const { id, token } = await user();
        const delays: number[] = [];
        for (let run = 0; run < RUNS; run += 1) {
          const [{ id: desk }] = await primary.query('INSERT INTO desk ("staffId") VALUES ($1) RETURNING id', [id]);
          const [{ id: record }] =
            path === 'notes'
              ? await primary.query(
                  `INSERT INTO note (text, "ownerId", version) VALUES ('before', $1, 1) RETURNING id`,
                  [id],
                )
              : await primary.query(`INSERT INTO paper (text, "deskId") VALUES ('before', $1) RETURNING id`, [desk]);
          await caughtUp();
          await primary.query(change, [record]);
          const patched = await request(app.url, 'PATCH', `/${path}/${record as number}`, {
            token,
            json: { text: 'mine' },
          });
          const [texts, ms] = await shownAfter(`/${path}/${record as number}`, token);
          expect([patched.status, texts]).toEqual([404, ['before']]);
          delays.push(Math.round(ms));
        }
        console.log(`${path}: shown for ${delays.join(', ')} ms`);
      },
      120_000,
    );
  });
});
