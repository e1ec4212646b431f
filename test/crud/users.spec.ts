/** The class of users as a resource, and in relations of other resources. */
import { AuthModule, AuthUser, type CrudOptions, type CrudResource } from 'declarest';
import { as } from 'declarest/testing';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { crudError, type CrudService, startCrud, wrongFields } from './service.js';

@Entity('member')
class Member extends AuthUser {
  @Column({ type: 'varchar', length: 20, nullable: true })
  phone!: string | null;
}

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) text!: string;
  @ManyToOne(() => Member, { nullable: true }) author!: Member | null;
}

const ENTITIES = [Member, Note];
const OPERATIONS = ['findAll', 'findById', 'update', 'patch'] as const;
const members = (more: Partial<CrudOptions<Member>> = {}): CrudOptions<Member> => ({
  entity: Member,
  endpoint: '/members',
  operations: OPERATIONS,
  maxListSize: 100,
  ...more,
});
const notes: CrudOptions<Note> = {
  entity: Note,
  endpoint: '/notes',
  includableRelations: ['author'],
  filterableFields: ['author.email'],
};
const auth = (): ReturnType<typeof AuthModule.forRoot> =>
  AuthModule.forRoot({ userClass: Member, jwtSecret: TEST_SECRET, bcryptRounds: 4, defaultAccess: 'public' });

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

const CASES = ONE_PLATFORM.flatMap((platform) => DATABASES.map((database) => ({ platform, database })));

describe.each(CASES)('[2.6] on $platform, $database', ({ platform, database }) => {
  async function start(...resources: CrudResource[]) {
    const service = await startCrud(platform, { database, entities: ENTITIES, resources, imports: [auth()] });
    running.push(service);
    await service.post('/api/auth/register', { email: 'ann@x.example', password: 'long enough 1' });
    await service.dataSource.getRepository(Note).insert({ text: 'a', author: { id: 1 } });
    return { service, user: as(service.app, { roles: ['USER'] }), admin: as(service.app, { roles: ['ADMIN'] }) };
  }
  const stored = (service: CrudService) =>
    service.dataSource.getRepository(Member).findOneOrFail({ where: { id: 1 }, select: { id: true, password: true } });

  it('a password is never sent, and unknown to bodies', async () => {
    const { service, user } = await start(members());
    const before = await stored(service);
    const { status, json } = await user.get('/members/1');
    expect([status, 'password' in json.data]).toEqual([200, false]);
    expect(wrongFields((await user.patch('/members/1', { password: '$2b$04$abc' })) as never)).toEqual(['password']);
    expect(wrongFields((await user.put('/members/1', { ...json.data, password: 'x' })) as never)).toEqual(['password']);
    expect((await user.put('/members/1', { ...json.data, phone: '1' })).json.data.phone).toBe('1');
    expect((await stored(service)).password).toBe(before.password);
    const login = { email: 'ann@x.example', password: 'long enough 1' };
    expect((await service.post('/api/auth/login', login)).status).toBe(200);
  });

  it('only roles that fieldPermissions names write the role, the login and whether a user is active', async () => {
    const write = ['ADMIN'] as const;
    const { user, admin } = await start(members({ fieldPermissions: { role: { write }, email: { write } } }));
    for (const [name, value] of Object.entries({ role: 'ADMIN', active: false, email: 'b@x.example', username: 'b' }))
      expect(wrongFields((await user.patch('/members/1', { [name]: value })) as never)).toEqual([name]);
    expect(wrongFields((await admin.patch('/members/1', { active: false })) as never)).toEqual(['active']);
    const { json } = await admin.patch('/members/1', { role: 'EDITOR', email: ' B@X.example ', phone: '7' });
    expect(json.data).toMatchObject({ role: 'EDITOR', email: 'b@x.example', phone: '7' });
    expect(wrongFields((await admin.patch('/members/1', { email: 'none' })) as never)).toEqual(['email']);
    expect(wrongFields((await admin.patch('/members/1', { role: ' ADMIN' })) as never)).toEqual(['role']);
  });

  it('in other resources, a user shows what its resource lets the caller read', async () => {
    const { user, admin } = await start(notes, members({ fieldPermissions: { email: { read: ['ADMIN'] } } }));
    const { author } = (await user.get('/notes/1?include=author')).json.data;
    expect([author.id, 'email' in author, 'password' in author]).toEqual([1, false, false]);
    expect(wrongFields((await user.get('/notes?filter[author.email]=ann@x.example')) as never)).toEqual([
      'filter[author.email]',
    ]);
    expect((await admin.get('/notes/1?include=author')).json.data.author.email).toBe('ann@x.example');
  });
});

it.each<[what: string, resources: CrudResource[], says: string]>([
  [
    'with POST',
    [members({ operations: [...OPERATIONS, 'create'] })],
    'CRUD option `operations` of Member must be an array without create, createMany and import, got an array with create. Set for example ["findAll", "findById", "patch"]: let users register, or create them by UserAccounts.',
  ],
  [
    'with POST of a batch',
    [members({ enableBatch: true, operations: [...OPERATIONS, 'createMany'] })],
    'got an array with createMany',
  ],
  ['with every operation', [members({ operations: undefined as never })], 'got none, which means every operation'],
  [
    'without its resource, where an include follows a relation to it',
    [{ ...notes, filterableFields: [] }],
    'CRUD option `includableRelations` of Note must be relations to entities with a resource, as Member holds accounts, got "author". Declare a resource of Member, which says what a caller may read of it, or leave the relation out.',
  ],
  [
    'without its resource, where a filter follows a relation to it',
    [{ ...notes, includableRelations: [] }],
    'CRUD option `filterableFields` of Note must be relations to entities with a resource, as Member holds accounts',
  ],
])('[2.6] the service refuses to start %s', async (_, resources, says) => {
  const { message } = await crudError('express', { entities: ENTITIES, resources, imports: [auth()] });
  expect(message).toContain(says);
});
