/** What went wrong in libraries of this kind with batches, validation, overridden operations and references. */
import { Patch, Post } from '@nestjs/common';
import { CrudController, type CrudOptions, type JsonObject } from 'declarest';
import { as, type Answer, type Client } from 'declarest/testing';
import { IsEmail, IsNotEmpty, MaxLength } from 'class-validator';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Team {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

@Entity()
@Unique(['name', 'room'])
class Member {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) @IsNotEmpty() @MaxLength(10) name!: string;
  @Column({ length: 40 }) @IsEmail() email!: string;
  @Column() room!: number;
  @Column({ type: 'int' }) ownerId!: number;
  @ManyToOne(() => Team, { nullable: true }) team!: Team | null;
}

const options = {
  entity: Member,
  endpoint: '/members',
  owner: { field: 'ownerId', reads: true },
  enableBatch: true,
  includableRelations: ['team'],
  filterableFields: ['name', 'team.name'],
  fields: { teamId: { read: 'never' } },
} as const satisfies CrudOptions<Member>;

class MembersController extends CrudController(options) {
  @Post()
  override create(body: JsonObject) {
    return super.create({ ...body, room: body['room'] ?? 1 });
  }

  @Patch(':id')
  override patch(id: string, body: JsonObject) {
    return super.patch(id, body);
  }
}

const [ANN, BOB, THEIRS] = [1, 2, 3];
const data = ({ json }: Answer): unknown => (json as { data: unknown }).data;

describe.each(DATABASES.flatMap((database) => PLATFORMS.map((platform) => ({ database, platform }))))(
  'on $database and $platform',
  ({ database, platform }) => {
    let service: CrudService;
    let client: Client;
    const rows = (): Promise<unknown> => service.dataSource.query('SELECT * FROM member ORDER BY id');

    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        entities: [Team, Member],
        resources: () => [MembersController, { entity: Team, endpoint: '/teams' }],
        imports: [authModule({ defaultAccess: 'public' })],
      });
      await service.dataSource.getRepository(Team).insert({ name: 'Red' });
      await service.dataSource.getRepository(Member).insert([
        { name: 'Ann', email: 'ann@x.org', room: 1, ownerId: 1, team: { id: 1 } },
        { name: 'Bob', email: 'bob@x.org', room: 1, ownerId: 1 },
        { name: 'Theirs', email: 'their@x.org', room: 2, ownerId: 2 },
      ]);
      client = as(service.app, { sub: 1, roles: ['USER'] });
    });
    afterAll(() => service.close());

    it('[8.1] nestjsx#384, #423: PATCH checks what is sent, PUT the whole record', async () => {
      const patched = await client.patch(`/members/${ANN}`, { name: 'Anna' });
      expect(data(patched)).toMatchObject({ name: 'Anna', email: 'ann@x.org' });
      expect(wrongFields(await client.patch(`/members/${ANN}`, { name: '' }))).toEqual(['name']);
      expect(wrongFields(await client.patch(`/members/${ANN}`, { email: 'none' }))).toEqual(['email']);
      expect(wrongFields(await client.put(`/members/${ANN}`, { name: 'Ann' }))).toEqual(['email', 'room']);
      await client.patch(`/members/${ANN}`, { name: 'Ann' });
    });

    it('[8.9] nestjsx#590, #576, #414: overridden operations keep validation and owner', async () => {
      const before = await rows();
      expect(wrongFields(await client.post('/members', { name: '', email: 'none' }))).toEqual(['email', 'name']);
      expect(wrongFields(await client.post('/members', { name: 'x', email: 'x@x.org', ownerId: 2 }))).toEqual([
        'ownerId',
      ]);
      expect(wrongFields(await client.patch(`/members/${ANN}`, { email: 'none', admin: true }))).toEqual([
        'admin',
        'email',
      ]);
      expect((await client.patch(`/members/${THEIRS}`, { name: 'mine' })).status).toBe(404);
      expect(await rows()).toEqual(before);
    });

    it('[8.2] nestjsx#244: each item of a batch is checked as a single record is', async () => {
      const before = await rows();
      const both = (item: object) => client.patch('/members/batch', { items: [{ id: ANN, name: 'x' }, item] });
      expect((await both({ id: THEIRS, name: 'mine' })).status).toBe(404);
      expect(wrongFields(await both({ id: BOB, email: 'none' }))).toEqual(['items[1].email']);
      expect(wrongFields(await both({ id: BOB, ownerId: 2 }))).toEqual(['items[1].ownerId']);
      expect(wrongFields(await both({ name: 'all' }))).toEqual(['items[1].id']);
      expect((await client.delete(`/members/batch?ids=${ANN},${THEIRS}`)).status).toBe(404);
      expect((await client.delete('/members/batch')).status).toBe(400);
      expect((await client.delete('/members/batch?filter[name]=Ann')).status).toBe(400);
      expect(await rows()).toEqual(before);
    });

    it('[8.1] DRF#2026: PATCH of one column of a unique pair is 409', async () => {
      const before = await rows();
      expect((await client.patch(`/members/${BOB}`, { name: 'Ann' })).status).toBe(409);
      expect((await client.patch('/members/batch', { items: [{ id: BOB, name: 'Ann' }] })).status).toBe(409);
      expect(await rows()).toEqual(before);
      expect((await client.patch(`/members/${BOB}`, { name: 'Ann', room: 9 })).status).toBe(200);
      expect((await client.patch(`/members/${BOB}`, { name: 'Bob', room: 1 })).status).toBe(200);
    });

    it('[9.3] remult#876: a reference that the caller cannot read does not show in answers', async () => {
      const answers = await Promise.all(
        ['/members', `/members/${ANN}`].map(async (path) => (await client.get(path)).text),
      );
      for (const text of [...answers, (await client.patch(`/members/${ANN}`, { teamId: 1 })).text])
        expect(text).not.toContain('teamId');
      expect((await client.get('/members?fields=teamId')).status).toBe(400);
      for (const query of ['include=team', 'filter[team.name]=Red'])
        expect([query, (await client.get(`/members?${query}`)).status]).toEqual([query, 400]);
    });

    it('[4.6] CVE-2024-21520: markup in a record is answered as JSON that no browser takes for a page', async () => {
      const name = '<b>1</b>';
      const created = await client.post('/members', { name, email: 'b@x.org', room: 3 });
      expect(data(created)).toMatchObject({ name });
      const { id } = data(created) as { id: number };
      for (const path of ['/members', `/members/${id}`, `/members/${encodeURIComponent(name)}`]) {
        const { headers } = await client.request('GET', path, { headers: { accept: 'text/html' } });
        expect(headers['content-type']).toMatch(/^application\/json/);
      }
      expect((await client.delete(`/members/${id}`)).status).toBe(200);
    });
  },
);
