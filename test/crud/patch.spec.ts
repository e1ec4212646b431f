/** PATCH on each database, through both data paths. */
import { IsEmail, ValidateIf } from 'class-validator';
import { CrudController, type HookContext, type HookValues } from 'declarest';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, UpdateDateColumn, VersionColumn } from 'typeorm';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { failure, startCrud, success, wrongFields, type CrudParts, type CrudService } from './service.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Team {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

const JSON_TYPE: Readonly<Record<DatabaseName, 'simple-json' | 'json' | 'jsonb'>> = {
  sqlite: 'simple-json',
  mariadb: 'json',
  postgres: 'jsonb',
};

function memberOf(database: DatabaseName) {
  @Entity('member')
  class Member {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 20 })
    name!: string;

    @Column({ type: 'varchar', length: 40, nullable: true })
    @ValidateIf(({ email }: Member) => email !== null)
    @IsEmail()
    email!: string | null;

    @Column({ type: 'int', default: 3 })
    rank!: number;

    @Column({ type: JSON_TYPE[database], nullable: true })
    settings!: unknown;

    @Column({ type: JSON_TYPE[database], nullable: true, select: false })
    secrets!: unknown;

    @Column({ update: false, default: 'fixed' })
    origin!: string;

    @ManyToOne(() => Team, { nullable: true })
    team!: Team | null;

    @UpdateDateColumn()
    updated!: Date;

    @VersionColumn()
    version!: number;
  }
  return Member;
}

class Address {
  @Column({ length: 20 })
  city!: string;

  @Column({ type: 'varchar', length: 10, nullable: true })
  zip!: string | null;
}

class Note {
  @Column({ type: 'varchar', length: 20, nullable: true })
  text!: string | null;

  @Column({ type: 'int', nullable: true })
  pages!: number | null;
}

@Entity()
class Place {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column(() => Address)
  address!: Address;

  @Column(() => Note)
  note!: Note;
}

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
const member = { name: 'Ann', email: 'ann@team.example', settings: { theme: { dark: true, size: 3 }, tabs: [1, 2] } };

describe.each(DATABASES)('on %s', (database) => {
  const Member = memberOf(database);
  let twins: Twins;
  let next = 0;

  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities: [Member, Team, Place],
      resources: [
        { entity: Member, endpoint: '/api/members' },
        { entity: Team, endpoint: '/api/teams' },
      ],
    });
    await twins.post('/api/teams', { name: 'Red' });
  });
  afterAll(() => twins.close());

  const made = async (body: object = member) => {
    const { status, json } = await twins.post('/api/members', body);
    expect(status).toBe(201);
    next = json.data.id;
    return json.data;
  };
  const patch = (json: unknown, id: number | string = next) => twins.send('PATCH', `/api/members/${id}`, { json });
  const stored = async (service: CrudService, id: number, column: string): Promise<unknown> => {
    const query = service.dataSource.getRepository(Member).createQueryBuilder('m').addSelect(`m.${column}`);
    return Reflect.get((await query.where({ id }).getOneOrFail()) as object, column);
  };

  it('[8.1] changes what is sent and keeps what is absent', async () => {
    const before = await made();
    const { status, json } = await patch({ name: 'Bea', teamId: 1 });
    const after = { ...before, name: 'Bea', teamId: 1, version: 2, updated: expect.any(String) };
    expect([status, json]).toEqual([200, success('Member updated', after)]);
    expect((await twins.get(`/api/members/${next}`)).json.data).toEqual(json.data);
  });

  it('[8.1] clears a field that is null, and refuses null where the column does not take it', async () => {
    await made();
    expect((await patch({ email: null, settings: null, teamId: null })).json.data).toMatchObject({
      email: null,
      settings: null,
      name: 'Ann',
    });
    expect(wrongFields(await patch({ name: null, rank: null }))).toEqual(['name', 'rank']);
  });

  it('[8.1] merges JSON columns as RFC 7396 says', async () => {
    const { settings } = await made();
    const cases: readonly [patch: unknown, expected: unknown][] = [
      [{ theme: { dark: null, font: 'x' } }, { theme: { size: 3, font: 'x' }, tabs: [1, 2] }],
      [{ tabs: [3] }, { theme: { size: 3, font: 'x' }, tabs: [3] }],
      [
        { theme: 'plain', 'a.b': { c: null } },
        { theme: 'plain', 'a.b': {}, tabs: [3] },
      ],
      [['list'], ['list']],
      [{ a: 1, b: null }, { a: 1 }],
      [null, null],
      [{ b: { c: null } }, { b: {} }],
      ['text', 'text'],
    ];
    expect(settings).toEqual(member.settings);
    for (const [sent, expected] of cases) {
      const { status, json } = await patch({ settings: sent });
      expect([status, json.data.settings]).toEqual([200, expected]);
    }
  });

  it('[8.1] treats a member named __proto__ as any other', async () => {
    await made();
    const body = '{"settings": {"__proto__": {"admin": true}, "theme": null}}';
    const { status, text } = await twins.compiled.send('PATCH', `/api/members/${next}`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([status, text]).toEqual([200, expect.stringContaining('"__proto__":{"admin":true}')]);
    expect({}).not.toHaveProperty('admin');
  });

  it('[8.1] merges a JSON column that clients cannot read', async () => {
    await made({ ...member, secrets: { a: 1, b: 2 } });
    const { text } = await patch({ secrets: { b: null, c: 3 } });
    expect(text).not.toContain('secrets');
    for (const service of [twins.compiled, twins.repository])
      expect(await stored(service, next, 'secrets')).toEqual({ a: 1, c: 3 });
  });

  it('[8.1] accepts fields that cannot be changed where they are unchanged', async () => {
    const { id, version } = await made();
    expect((await patch({ id, version, origin: 'fixed', rank: 4 })).json.data).toMatchObject({ rank: 4 });
    expect(wrongFields(await patch({ id: 99, version: 99, origin: 'other', rank: 5 }))).toEqual([
      'id',
      'origin',
      'version',
    ]);
    expect((await twins.get(`/api/members/${id}`)).json.data.rank).toBe(4);
  });

  it('[8.1] checks what is sent as PUT does, and nothing else', async () => {
    await made({ ...member, email: null });
    expect(wrongFields(await patch({ email: 'no address', rank: 'high', colour: 'red' }))).toEqual([
      'colour',
      'email',
      'rank',
    ]);
    expect((await patch({ teamId: 99 })).status).toBe(409);
    expect((await patch({ rank: 1 })).status).toBe(200);
  });

  it('[8.1] changes nothing for an empty patch', async () => {
    const before = await made();
    const { status, json } = await patch({});
    expect([status, json.data]).toEqual([200, before]);
  });

  it('[8.1] never creates a record, and returns 400 for a wrong id and 404 for an unknown one first', async () => {
    for (const body of [{ name: 'x' }, { settings: {} }, { colour: 1 }, {}])
      expect([(await patch(body, 99_999)).json, (await patch(body, 'x')).status]).toEqual([
        failure('Member with id 99999 not found'),
        400,
      ]);
    expect((await twins.get('/api/members/99999')).status).toBe(404);
  });

  it.each(['compiled', 'repository'] as const)(
    '[8.1] parallel patches of different fields, and of one JSON column, all survive on the path %s',
    async (path) => {
      const service = twins[path];
      await made();
      const bodies = [
        { name: 'Zoe' },
        { rank: 9 },
        ...Array.from({ length: 10 }, (_, index) => ({ settings: { [`k${index}`]: index } })),
      ];
      const answers = await Promise.all(bodies.map((json) => service.send('PATCH', `/api/members/${next}`, { json })));
      expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
      const { data } = (await service.get(`/api/members/${next}`)).json;
      const keys = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`k${index}`, index]));
      expect(data).toMatchObject({ name: 'Zoe', rank: 9, settings: { ...member.settings, ...keys }, version: 13 });
    },
  );
});

describe.each(DATABASES)('[8.1] a patch that is merged, on %s', (database) => {
  const Member = memberOf(database);
  const start = async (more: Partial<CrudParts>): Promise<CrudService> => {
    const service = await startCrud('express', { database, entities: [Member, Team], ...more });
    await service.dataSource.getRepository(Member).insert({ name: 'Ann', settings: {} });
    return service;
  };

  it('is 409 where another request changes the record before each of its attempts', async () => {
    const validate = async (value: unknown) => {
      await service.dataSource.getRepository(Member).increment({ id: 1 }, 'rank', 1);
      return { value: value as object };
    };
    const schema = { update: { '~standard': { version: 1 as const, vendor: 'test', validate } } };
    const service = await start({ resources: [{ entity: Member, endpoint: '/members', validationSchema: schema }] });
    const { status, json } = await service.send('PATCH', '/members/1', { json: { name: 'Bea' } });
    expect([status, json]).toEqual([409, failure('Member was changed by other requests: repeat the change')]);
    expect(await service.dataSource.getRepository(Member).findOneBy({ id: 1 })).toMatchObject({ name: 'Ann' });
    await service.close();
  });

  it('keeps what another transaction wrote since its own began, also where a hook sends it', async () => {
    class Members extends CrudController({ entity: Member, endpoint: '/members' }) {}
    class Teams extends CrudController({ entity: Team, endpoint: '/teams' }) {
      override async beforeUpdate(_: number, { name }: HookValues<Team>, { manager }: HookContext): Promise<void> {
        // On MariaDB, the first read decides what later ones see.
        await manager.findOneBy(Member, { id: 1 });
        await service.app.get(Members).patch('1', { settings: { [name!]: true } });
      }
    }
    const service = await start({ resources: [Members, Teams] });
    const names = ['a', 'b', 'c', 'd', 'e'];
    await service.dataSource.getRepository(Team).insert(names.map(() => ({ name: 'new' })));
    const answers = await Promise.all(names.map((name, index) => service.put(`/teams/${index + 1}`, { name })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { settings } = (await service.get('/members/1')).json.data;
    expect(settings).toEqual({ a: true, b: true, c: true, d: true, e: true });
    await service.close();
  });

  it('answers an unknown record before a wrong body, also where a hook sends the batch', async () => {
    class Members extends CrudController({ entity: Member, endpoint: '/members' }) {}
    class Teams extends CrudController({ entity: Team, endpoint: '/teams' }) {
      override async beforeCreate(): Promise<void> {
        await service.app.get(Members).patchMany({
          items: [
            { id: 1, rank: 'x' },
            { id: 9, name: 'y' },
          ],
        });
      }
    }
    const service = await start({ resources: [Members, Teams], isDescribed: false });
    const { status, json } = await service.post('/teams', { name: 'Red' });
    expect([status, json]).toEqual([404, failure('Member with id 9 not found')]);
    await service.close();
  });
});

it('[8.1] [9.3] null clears the fields of an embedded object that the caller knows', async () => {
  const service = await startCrud('express', {
    entities: [Place],
    resources: [
      {
        entity: Place,
        endpoint: '/api/places',
        fieldPermissions: { 'note.pages': { read: ['ADMIN'], write: ['ADMIN'] } },
      },
    ],
  });
  await service.dataSource.getRepository(Place).insert({ address: { city: 'Ulm' }, note: { text: 'old', pages: 3 } });
  const { status, text } = await service.send('PATCH', '/api/places/1', { json: { note: null } });
  expect([status, text.includes('pages')]).toEqual([200, false]);
  expect(await service.dataSource.getRepository(Place).findOneBy({ id: 1 })).toMatchObject({
    note: { text: null, pages: 3 },
  });
  await service.close();
});

describe.each(DATABASES)('embedded objects on %s', (database) => {
  it('[8.1] merge by their fields, and null clears them', async () => {
    const service = await startCrud('express', {
      database,
      entities: [Place],
      resources: [{ entity: Place, endpoint: '/api/places' }],
    });
    await service.post('/api/places', { address: { city: 'Ulm', zip: '89073' }, note: { text: 'old', pages: 3 } });
    const patch = (json: unknown) => service.send('PATCH', '/api/places/1', { json });
    expect((await patch({ address: { city: 'Bonn' } })).json.data).toEqual({
      id: 1,
      address: { city: 'Bonn', zip: '89073' },
      note: { text: 'old', pages: 3 },
    });
    expect((await patch({ note: null })).json.data.note).toEqual({ text: null, pages: null });
    expect(wrongFields(await patch({ address: null }))).toEqual(['address.city']);
    await service.close();
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  const Member = memberOf('sqlite');
  const start = () =>
    startCrud(platform, {
      entities: [Member, Team],
      resources: [
        { entity: Member, endpoint: '/api/members' },
        { entity: Team, endpoint: '/api/teams' },
      ],
    });

  it('[8.1] reads application/merge-patch+json as application/json', async () => {
    const service = await start();
    await service.post('/api/teams', { name: 'Red' });
    const send = (body: string | Buffer, type: string) =>
      service.send('PATCH', '/api/teams/1', { body, headers: { 'content-type': type } });
    for (const type of ['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8']) {
      const { status, json } = await send(JSON.stringify({ name: type.slice(0, 20) }), type);
      expect([status, json]).toEqual([200, success('Team updated', { id: 1, name: type.slice(0, 20) })]);
    }
    const refusals = [
      [await send('{"name":', MERGE_PATCH['content-type']), 400, 'The request body is not a valid JSON object'],
      [await send('["name"]', MERGE_PATCH['content-type']), 400, 'The request body must be a JSON object'],
      [
        await send(JSON.stringify({ name: 'x'.repeat(2 ** 21) }), MERGE_PATCH['content-type']),
        413,
        'The request body is larger than this server accepts',
      ],
      [await send('name=x', 'application/x-www-form-urlencoded'), 415, expect.stringContaining('merge-patch+json')],
      [await send('{"name":"x"}', 'application/merge-patch+jsonx'), 415, expect.any(String)],
    ] as const;
    for (const [{ status, json }, expected, message] of refusals)
      expect([status, json]).toEqual([expected, failure(message)]);
    expect((await service.send('PUT', '/api/teams/1', { body: '{}', headers: MERGE_PATCH })).status).toBe(415);
    await service.close();
  });
});
