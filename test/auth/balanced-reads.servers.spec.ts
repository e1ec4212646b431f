/** Poolers such as pgpool send a SELECT to a standby, which may be behind, unless it calls a volatile function or locks. */
import { mailedLinks, sessions, UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc } from 'declarest-logins/oidc';
import { secondFactor } from 'declarest-logins/second-factor';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, type Relation, VersionColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { startCrud } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { StatementLog } from '../harness/statement-log.js';
import { makeToken } from '../harness/tokens.js';
import { browse, CLIENT, startProvider } from '../logins/identity-provider.js';
import { PASSKEYS, Person } from '../logins/passkeys/passkey-app.js';
import { PASSWORD, startAuth } from './auth-app.js';
import { Mailbox, mailsTo } from './mailbox.js';

const redirectUris = ['https://shop.example/login'];

@Entity()
class Shelf {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @Column({ type: 'jsonb', nullable: true }) data!: object | null;
  @ManyToOne(() => Shelf) shelf!: Relation<Shelf> | null;
  @VersionColumn() version!: number;
}

/** The reads that a standby may answer. A pooler keeps the rest of a transaction that has begun on the primary there. */
function balanced(log: StatementLog): string[] {
  let isOpen = false;
  let isOnPrimary = false;
  return log.take().flatMap(([sql]) => {
    if (/^(START TRANSACTION|COMMIT|ROLLBACK)/.test(sql)) [isOpen, isOnPrimary] = [sql.startsWith('START'), false];
    // What is removed because it has expired decides nothing.
    else if (/^SELECT(?!.*"expiresAt" <= )/.test(sql) && !/clock_timestamp\(\)|FOR (NO KEY )?UPDATE/.test(sql))
      return isOnPrimary ? [] : [sql];
    else isOnPrimary = isOpen;
    return [];
  });
}

describe.skipIf(!DATABASES.includes('postgres'))('[2.9] reads of PostgreSQL that a pooler sends to the primary', () => {
  it('are those of accounts', async () => {
    const logger = new StatementLog();
    const provider = await startProvider(redirectUris);
    const plugins = [
      sessions({ revocation: 'immediate' }),
      mailedLinks({ required: true }),
      secondFactor(),
      PASSKEYS,
      apiKeys(),
    ];
    const app = await startAuth('fastify', {
      database: 'postgres',
      auth: {
        plugins: [...plugins, oidc({ providers: { main: { ...CLIENT, issuer: provider.issuer, redirectUris } } })],
        throttle: { storage: 'database' },
        mailer: { useClass: Mailbox },
        bcryptRounds: 4,
      },
      dataSource: { logger },
    });
    const user = { email: 'ann@shop.example', password: PASSWORD };
    logger.take();
    await app.register(user);
    const [mail] = await mailsTo(user.email);
    await app.post('/api/auth/verify', { token: mail!.token });
    const { json } = await app.post('/api/auth/login', user);
    const { token, refreshToken } = json.data as Record<string, string>;
    const answers = [
      await app.get('/api/auth/me', { token: token! }),
      await app.get('/api/auth/sessions', { token: token! }),
      await app.post('/api/auth/mfa/enrol', { password: PASSWORD }, { token: token! }),
      await app.post('/api/auth/refresh', { refreshToken }),
      await app.post('/api/auth/login', { ...user, password: 'wrong' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 401]);
    const { data } = (await app.post('/api/auth/keys', { password: PASSWORD, name: 'A' }, { token: token! })).json;
    expect((await app.get('/who', { token: data.key as string })).json.user).toMatchObject({ id: 1 });
    const person = new Person(app);
    Object.assign(person, { email: user.email, token });
    const added = await person.add();
    expect([added.status, (await person.logIn()).status, (await person.list()).length]).toEqual([201, 200, 1]);
    const { id } = added.json.data.passkey as { id: string };
    expect((await person.send('PATCH', `passkeys/${id}`, { name: 'Phone' })).status).toBe(200);
    const finish = async (path: string, { json: begun }: Answer): Promise<Answer> => {
      const { url, verifier } = begun.data as Readonly<Record<string, string>>;
      return person.post(path, { url: await browse(url!, 'ann'), verifier });
    };
    const linked = await finish('identities', await person.post('identities/main', { password: PASSWORD }));
    const logged = await finish('oidc', await person.post('oidc/main', {}));
    const identities = await person.send('GET', 'identities');
    expect([linked.status, logged.status, identities.json.data.length]).toEqual([200, 200, 1]);
    expect((await person.send('DELETE', `identities/${identities.json.data[0].id}`)).status).toBe(204);
    await app.app.get(UserAccounts, { strict: false }).setPassword(1, `${PASSWORD}!`);
    const count = logger.statements.filter(([sql]) => sql.startsWith('SELECT')).length;
    expect([balanced(logger), count > 30]).toEqual([[], true]);
    await app.close();
    await provider.close();
  });

  it.each(['compiled', 'repository'] as const)('are those on which a %s write is decided', async (path) => {
    const logger = new StatementLog();
    const app = await startCrud('fastify', {
      database: 'postgres',
      path,
      imports: [authModule({ defaultAccess: 'public' })],
      dataSource: { logger },
      resources: [
        { entity: Shelf, endpoint: '/shelves', maxListSize: 100 },
        { entity: Book, endpoint: '/books', maxListSize: 100, enableIdempotency: true },
      ],
      isDescribed: false,
    });
    await app.post('/shelves', {});
    logger.take();
    const headers = { 'idempotency-key': 'one' };
    const body = { title: 'A', data: { a: 1 }, shelfId: 1 };
    const send = async (...args: Parameters<typeof app.send>): Promise<number> => (await app.send(...args)).status;
    const token = makeToken();
    const statuses = [
      await send('POST', '/books', { json: body, headers, token }),
      await send('POST', '/books', { json: body, headers, token }),
      await send('POST', '/books', { json: { ...body, shelfId: 9 } }),
      await send('PATCH', '/books/1', { json: { data: { b: 2 } } }),
      await send('PATCH', '/books/1', { json: { title: 'B' }, headers: { 'if-match': '"7"' } }),
      await send('PUT', '/books/1', { json: { ...body, shelfId: 1 } }),
      await send('DELETE', '/books/1'),
      await send('DELETE', '/books/1'),
      await send('PATCH', '/books/1', { json: { title: 'B' } }),
    ];
    expect(statuses).toEqual([201, 201, 409, 200, 412, 200, 200, 404, 404]);
    expect(balanced(logger)).toEqual([]);
    // A read decides nothing.
    expect(await send('GET', '/books')).toBe(200);
    expect(balanced(logger)).toHaveLength(1);
    await app.close();
  });
});
