/** With TypeORM's query cache switched on for every statement, generated reads and reads of accounts are current. */
import type { Type } from '@nestjs/common';
import { AuthModule, AuthUser, UserAccounts } from 'declarest';
import { AfterLoad, BeforeRemove, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @Column('simple-json')
  data!: object;
}

@Entity()
class HeardNote extends Note {
  @AfterLoad()
  @BeforeRemove()
  hear(): void {}
}

@Entity()
class Member extends AuthUser {}

describe.each(DATABASES)('the query cache of a data source on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    const resourceOf = (entity: Type<Note>, endpoint: string) => ({
      entity,
      endpoint,
      enablePagination: true,
      enableCount: true,
      enableExists: true,
      enableSearch: true,
      searchableFields: ['title' as const],
      aggregatableFields: ['title' as const],
    });
    service = await startCrud('express', {
      database,
      // A minute is longer than the test.
      dataSource: { cache: { alwaysEnabled: true, duration: 60_000 } },
      resources: [resourceOf(Note, '/notes'), resourceOf(HeardNote, '/heard')],
      imports: [
        AuthModule.forRoot({
          userClass: Member,
          loginMethod: 'EMAIL',
          jwtSecret: TEST_SECRET,
          bcryptRounds: 4,
          sessions: true,
          defaultAccess: 'public',
          administration: true,
        }),
      ],
    });
  });
  afterAll(() => service.close());

  it.each(['/notes', '/heard'])('is not used by %s', async (endpoint) => {
    const { json: made } = await service.post(endpoint, { title: 'a', data: { kept: 1 } });
    const path = `${endpoint}/${made.data.id}`;
    for (const data of [{ first: 1 }, { second: 2 }]) await service.send('PATCH', path, { json: { data } });
    expect((await service.get(path)).json.data.data).toEqual({ kept: 1, first: 1, second: 2 });
    const replaced = await service.put(path, { title: 'b', data: {} });
    expect(replaced.json.data).toEqual({ id: made.data.id, title: 'b', data: {} });
    const reads = async () => {
      const answers = ['', '/count', '/aggregate?groupBy=title', '/search?title=b', `/exists/${made.data.id}`];
      const [list, count, groups, found, exists] = await Promise.all(
        answers.map((each) => service.get(endpoint + each)),
      );
      return [
        list?.json.metadata.pagination.total,
        count?.json.data.count,
        groups?.json.data.length,
        found?.json.data.length,
        exists?.json.data.exists,
        (await service.get(path)).status,
      ];
    };
    expect(await reads()).toEqual([1, 1, 1, 1, true, 200]);
    expect((await service.del(path)).status).toBe(200);
    expect(await reads()).toEqual([0, 0, 0, 0, false, 404]);
  });

  it('is not used by accounts', async () => {
    const accounts = service.app.get(UserAccounts, { strict: false });
    const member = await accounts.create({ email: 'ann@example.com', password: 'a long password' });
    const login = () => service.post('/api/auth/login', { email: 'ann@example.com', password: 'a long password' });
    const { json } = await login();
    const { token } = json.data;
    const me = () => service.send('GET', '/api/auth/me', { token });
    expect((await me()).status).toBe(200);
    const sessions = async () => (await service.send('GET', '/api/auth/sessions', { token })).json.data.length;
    expect(await sessions()).toBe(1);
    await login();
    expect(await sessions()).toBe(2);
    await accounts.setActive(String(member.id), false);
    expect([(await me()).status, (await login()).status]).toEqual([401, 401]);
    await accounts.setActive(String(member.id), true);
    expect((await login()).status).toBe(200);
  });
});
