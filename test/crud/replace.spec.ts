import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  type Relation,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Type } from '@nestjs/common';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { linesOf } from '../harness/platforms.js';
import { type CrudService, naming, startCrud, success, wrongFields } from './service.js';

class Place {
  @Column({ length: 30 })
  city!: string;

  @Column({ type: 'varchar', length: 10, nullable: true })
  zip!: string | null;

  @Column({ length: 2, default: 'DE' })
  country!: string;
}

@Entity()
class Person {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

@Entity()
class Profile {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  bio!: string;
}

/** One class for each database, because the expression of a generated column differs. */
function articleOf(database: DatabaseName) {
  @Entity()
  class Article {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 50 })
    title!: string;

    @Column({ type: 'varchar', length: 50, nullable: true })
    subtitle!: string | null;

    @Column({ default: 3 })
    rating!: number;

    @Column({ type: 'simple-enum', enum: ['draft', 'public'], default: 'draft' })
    status!: string;

    @Column({ type: 'varchar', length: 20, nullable: true, default: 'none' })
    mood!: string | null;

    @Column({ type: 'int' })
    views = 7;

    @Column({ type: database === 'postgres' ? 'timestamp' : 'datetime', default: () => 'CURRENT_TIMESTAMP' })
    published!: Date;

    @Column({ type: 'varchar', length: 50, nullable: true, select: false })
    secret!: string | null;

    @Column({ length: 50, select: false, default: 'token-canary' })
    token!: string;

    @Column({ length: 20, update: false, default: 'fixed' })
    locked!: string;

    @Column({ type: 'varchar', length: 20, nullable: true, insert: false })
    later!: string | null;

    @Column({
      type: 'varchar',
      length: 60,
      generatedType: 'STORED',
      asExpression: database === 'mariadb' ? 'concat(`title`, "!")' : `"title" || '!'`,
      nullable: true,
      // TypeORM does not leave such a column out of its statements.
      ...(database === 'sqlite' && { insert: false, update: false }),
    })
    shout!: string;

    @Column({
      type: 'int',
      transformer: {
        // TypeORM calls it for absent values too.
        to: (euros?: number) => (euros === undefined ? undefined : Math.round(euros * 100)),
        from: (cents: number) => cents / 100,
      },
      default: 150,
    })
    price!: number;

    @Column(() => Place)
    place!: Place;

    @ManyToOne(() => Person, { nullable: true })
    reviewer!: Person | null;

    @ManyToOne(() => Person, { nullable: false })
    owner!: Person;

    @OneToOne(() => Profile, { nullable: true })
    @JoinColumn()
    profile!: Profile | null;

    @ManyToOne('Article', { nullable: true })
    parent!: Relation<Article> | null;

    @OneToMany('Article', 'parent')
    children!: Relation<Article>[];

    @Column({ type: 'int', nullable: true })
    editorId!: number | null;

    @ManyToOne(() => Person, { nullable: true })
    @JoinColumn({ name: 'editorId' })
    editor!: Person | null;

    @ManyToOne(() => Person, { nullable: true })
    @JoinColumn({ name: 'the_printer' })
    printer!: Person | null;

    @CreateDateColumn()
    created!: Date;

    @UpdateDateColumn()
    updated!: Date;

    @VersionColumn()
    version!: number;

    @DeleteDateColumn()
    deleted!: Date | null;

    isNoColumn = 'value of the class';
  }
  return Article;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe.each(DATABASES)('on %s', (database) => {
  const Article = articleOf(database);

  let service: CrudService;
  let ann: number;
  let bob: number;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Article, Person, Profile],
      resources: [
        {
          entity: Article as Type,
          endpoint: '/api/articles',
          enableSearch: true,
          enableExists: true,
          searchableFields: ['title'],
        },
        { entity: Person, endpoint: '/api/people' },
        { entity: Profile, endpoint: '/api/profiles' },
      ],
    });
    ann = (await service.post('/api/people', { name: 'Ann' })).json.data.id;
    bob = (await service.post('/api/people', { name: 'Bob' })).json.data.id;
  });
  afterAll(() => service.close());

  /** The required fields. */
  const least = () => ({ title: 'One', place: { city: 'Ulm' }, ownerId: ann });
  const fresh = () => ({
    id: expect.any(Number),
    title: 'One',
    subtitle: null,
    rating: 3,
    status: 'draft',
    mood: 'none',
    views: 7,
    published: expect.stringMatching(MOMENT),
    locked: 'fixed',
    later: null,
    shout: 'One!',
    price: 1.5,
    place: { city: 'Ulm', zip: null, country: 'DE' },
    reviewerId: null,
    ownerId: ann,
    profileId: null,
    parentId: null,
    editorId: null,
    printerId: null,
    created: expect.stringMatching(MOMENT),
    updated: expect.stringMatching(MOMENT),
    version: 1,
  });
  /** Every field that a client may set. */
  const most = () => ({
    ...least(),
    subtitle: 'Two',
    rating: 5,
    status: 'public',
    mood: 'merry',
    views: 9,
    published: '2026-01-31T09:30:15.000Z',
    price: 12.34,
    place: { city: 'Bonn', zip: '53111', country: 'AT' },
    reviewerId: bob,
    editorId: bob,
    printerId: ann,
  });
  const made = async (fields: object = least()) => {
    const { status, json, text } = await service.post('/api/articles', fields);
    if (status !== 201) throw new Error([text, ...linesOf(service.logs, 'error')].join('\n'));
    return json.data as ReturnType<typeof fresh> & { id: number };
  };
  const read = async (id: number) => (await service.get(`/api/articles/${id}`)).json.data;
  const column = async (id: number, name: string): Promise<unknown> => {
    const [row] = await service.dataSource
      .getRepository(Article)
      .createQueryBuilder('a')
      .withDeleted()
      .select(`a.${name}`, 'it')
      .where('a.id = :id', { id })
      .getRawMany<{ it: unknown }>();
    return row?.it;
  };

  it('[4.6] sets what a POST leaves out to its default or null, and stores what it sends', async () => {
    const { id, ...rest } = await made();
    expect({ id, ...rest }).toEqual(fresh());
    expect(await read(id)).toEqual({ id, ...rest });
    const { id: other } = await made(most());
    expect(await read(other)).toMatchObject({ ...most(), id: other });
  });

  it('[4.6] accepts in PUT what GET returned, and changes only version and update date', async () => {
    for (const before of [await made(), await made(most())]) {
      const { status, json } = await service.put(`/api/articles/${before.id}`, before);
      const unchanged = { ...before, version: 2, updated: expect.stringMatching(MOMENT) };
      expect([status, json]).toEqual([200, success(naming('Article'), unchanged)]);
      expect(await read(before.id)).toEqual(json.data);
    }
  });

  it('[4.6] accepts in PUT what GET returned and a client edited', async () => {
    const before = await made(most());
    const edited = { ...before, title: 'Edited', rating: 0, subtitle: null, place: { ...before.place, city: 'Rom' } };
    const { status, json } = await service.put(`/api/articles/${before.id}`, edited);
    expect([status, json.data]).toEqual([
      200,
      { ...edited, shout: 'Edited!', version: 2, updated: expect.stringMatching(MOMENT) },
    ]);
  });

  it('[4.6] sets what a PUT leaves out to its default or null', async () => {
    const before = await made(most());
    const { status, json } = await service.put(`/api/articles/${before.id}`, least());
    expect([status, json.data]).toEqual([200, { ...fresh(), id: before.id, created: before.created, version: 2 }]);
    expect(json.data.published).not.toBe('2026-01-31T09:30:15.000Z');
    expect(await read(before.id)).toEqual(json.data);
  });

  it('[4.6] sets a nullable column with a default to the default if absent, and to null if null', async () => {
    const { id } = await made({ ...least(), mood: null });
    expect((await read(id)).mood).toBeNull();
    await service.put(`/api/articles/${id}`, { ...least(), mood: 'odd' });
    expect((await service.put(`/api/articles/${id}`, least())).json.data.mood).toBe('none');
    expect((await service.put(`/api/articles/${id}`, { ...least(), mood: null })).json.data.mood).toBeNull();
  });

  it('[4.6] returns 400 for a PUT without a required field or relation, and changes nothing', async () => {
    const before = await made(most());
    expect(wrongFields(await service.put(`/api/articles/${before.id}`, {}))).toEqual([
      'ownerId',
      'place.city',
      'title',
    ]);
    expect(wrongFields(await service.put(`/api/articles/${before.id}`, { ...least(), place: {} }))).toEqual([
      'place.city',
    ]);
    expect(await read(before.id)).toEqual(before);
  });

  it('[4.6] never creates a record by PUT', async () => {
    const count = await service.dataSource.getRepository(Article).count();
    for (const body of [least(), { ...least(), id: 987654 }])
      expect((await service.put('/api/articles/987654', body)).status).toBe(404);
    expect(await service.dataSource.getRepository(Article).count()).toBe(count);
  });

  it('[4.6] refuses generated fields in POST, and in PUT if they change', async () => {
    const before = await made();
    const [past, future] = ['2001-01-31T09:30:15.000Z', '2041-01-31T09:30:15.000Z'];
    const generated = { id: 987654, created: past, updated: past, version: 9, deleted: future, shout: 'x!' };
    for (const [name, value] of Object.entries({ ...generated, later: 'a' })) {
      expect(wrongFields(await service.post('/api/articles', { ...least(), [name]: value }))).toEqual([name]);
      expect(wrongFields(await service.post('/api/articles', { ...least(), [name]: null }))).toEqual([name]);
    }
    for (const [name, value] of Object.entries({ ...generated, locked: 'changed', id: String(before.id) })) {
      const answer = await service.put(`/api/articles/${before.id}`, { ...before, title: 'Other', [name]: value });
      expect(wrongFields(answer)).toEqual([name]);
      expect(answer.json.errors[0].message).toMatch(/^cannot be changed: must be .+ or nothing, got .+$/);
    }
    expect(await read(before.id)).toEqual(before);
    expect((await service.put(`/api/articles/${before.id}`, { ...least(), id: before.id })).status).toBe(200);
  });

  it('[4.6] stores update: false columns only in POST, and insert: false columns only in PUT', async () => {
    const { id } = await made({ ...least(), locked: 'mine' });
    expect((await service.put(`/api/articles/${id}`, least())).json.data.locked).toBe('mine');
    expect((await service.put(`/api/articles/${id}`, { ...least(), locked: 'mine' })).status).toBe(200);
    expect((await service.put(`/api/articles/${id}`, { ...least(), later: 'now' })).json.data.later).toBe('now');
    expect((await read(id)).later).toBe('now');
  });

  it('[4.6] never sends select: false columns, and keeps them in a PUT that leaves them out', async () => {
    const hidden = { secret: 'secret-canary', token: 'other-canary' };
    const answers = [await service.post('/api/articles', { ...least(), title: 'Hidden', ...hidden })];
    const { id } = answers[0]!.json.data as { id: number };
    expect([await column(id, 'secret'), await column(id, 'token')]).toEqual(['secret-canary', 'other-canary']);
    answers.push(await service.put(`/api/articles/${id}`, { ...least(), title: 'Hidden' }));
    expect([await column(id, 'secret'), await column(id, 'token')]).toEqual(['secret-canary', 'other-canary']);
    answers.push(
      await service.put(`/api/articles/${id}`, { ...least(), title: 'Hidden', secret: 'new-canary' }),
      await service.get(`/api/articles/${id}`),
      await service.get('/api/articles'),
      await service.get('/api/articles/search?title=hidden'),
      await service.get(`/api/articles/exists/${id}`),
    );
    expect([await column(id, 'secret'), await column(id, 'token')]).toEqual(['new-canary', 'other-canary']);
    for (const { status, text } of answers) {
      expect(status).toBeLessThan(300);
      expect(text).not.toMatch(/canary|"secret"|"token"/);
    }
  });

  it('[4.6] does not repeat a wrong value of a select: false column', async () => {
    const answer = await service.post('/api/articles', { ...least(), secret: 'x'.repeat(51), token: 98765 });
    expect(wrongFields(answer)).toEqual(['secret', 'token']);
    expect(answer.text).not.toMatch(/98765|xxx|51 characters/);
  });

  it.each([
    ['colour', { colour: 'red' }],
    ['place.street', { place: { city: 'Ulm', street: 'x' } }],
    ['owner', { owner: { id: 1 } }],
    ['children', { children: [] }],
    ['isNoColumn', { isNoColumn: 'x' }],
    ['place.city', { 'place.city': 'x' }],
    ['the_printer', { the_printer: 1 }],
    ['TITLE', { TITLE: 'x' }],
  ])('[4.6] refuses the unknown field %o in POST and PUT', async (name, fields) => {
    const before = await made();
    expect(wrongFields(await service.post('/api/articles', { ...least(), ...fields }))).toEqual([name]);
    expect(wrongFields(await service.put(`/api/articles/${before.id}`, { ...least(), ...fields }))).toEqual([name]);
    expect(await read(before.id)).toEqual(before);
  });

  it('[4.6] checks an embedded object, and replaces it as a whole', async () => {
    const { id } = await made(most());
    for (const place of [null, 'Ulm', ['Ulm']])
      for (const answer of [
        await service.post('/api/articles', { ...least(), place }),
        await service.put(`/api/articles/${id}`, { ...least(), place }),
      ])
        expect(wrongFields(answer)).toEqual(['place', 'place.city']);
    const { json } = await service.put(`/api/articles/${id}`, { ...least(), place: { city: 'Rom' } });
    expect(json.data.place).toEqual({ city: 'Rom', zip: null, country: 'DE' });
  });

  it('[4.6] reads and writes a column through its transformer', async () => {
    const { id } = await made({ ...least(), price: 19.99 });
    expect(Number(await column(id, 'price'))).toBe(1999);
    expect((await read(id)).price).toBe(19.99);
    expect((await service.put(`/api/articles/${id}`, { ...least(), price: 0.5 })).json.data.price).toBe(0.5);
    expect(Number(await column(id, 'price'))).toBe(50);
  });

  const RELATIONS = ['reviewerId', 'editorId', 'printerId'];
  it.each(RELATIONS)('[4.6] reads and writes a many-to-one relation as %s', async (name) => {
    const { id } = await made({ ...least(), [name]: bob });
    expect((await read(id))[name]).toBe(bob);
    expect((await service.put(`/api/articles/${id}`, { ...least(), [name]: ann })).json.data[name]).toBe(ann);
    expect((await service.put(`/api/articles/${id}`, { ...least(), [name]: null })).json.data[name]).toBeNull();
    await service.put(`/api/articles/${id}`, { ...least(), [name]: ann });
    expect((await service.put(`/api/articles/${id}`, least())).json.data[name]).toBeNull();
  });

  it.each([...RELATIONS, 'ownerId', 'parentId', 'profileId'])(
    '[4.6] [4.3] returns 409 that names %s if it refers to no record, and 400 if it is no id',
    async (name) => {
      const before = await made();
      const sent = { ...least(), [name]: 987654 };
      for (const { status, json } of [
        await service.post('/api/articles', sent),
        await service.put(`/api/articles/${before.id}`, sent),
      ])
        expect([status, json.message]).toEqual([409, naming(`${name} refers to a record that does not exist`)]);
      for (const value of ['a', '', 1.5, true, {}, [1]])
        expect(wrongFields(await service.post('/api/articles', { ...least(), [name]: value }))).toEqual([name]);
      expect(await read(before.id)).toEqual(before);
    },
  );

  it('[4.6] reads and writes a one-to-one relation, which is unique', async () => {
    const profile = (await service.post('/api/profiles', { bio: 'x' })).json.data as { id: number };
    const { id } = await made({ ...least(), profileId: profile.id });
    expect((await read(id)).profileId).toBe(profile.id);
    expect((await service.post('/api/articles', { ...least(), profileId: profile.id })).status).toBe(409);
    expect((await service.del(`/api/profiles/${profile.id}`)).status).toBe(409);
  });

  it('[4.6] reads and writes a relation to the same entity', async () => {
    const parent = await made();
    const child = await made({ ...least(), parentId: parent.id });
    expect((await read(child.id)).parentId).toBe(parent.id);
    expect((await service.put(`/api/articles/${parent.id}`, { ...least(), parentId: parent.id })).status).toBe(200);
  });

  it('[4.6] hides a soft-deleted record from every operation, and keeps it in the table', async () => {
    const { id } = await made({ ...least(), title: 'Softly' });
    expect((await service.del(`/api/articles/${id}`)).status).toBe(200);
    for (const answer of [
      await service.get(`/api/articles/${id}`),
      await service.put(`/api/articles/${id}`, least()),
      await service.del(`/api/articles/${id}`),
    ])
      expect([answer.status, answer.json.message]).toEqual([404, `Article with id ${id} not found`]);
    expect((await service.get(`/api/articles/exists/${id}`)).json.data).toEqual({ exists: false });
    expect((await service.get('/api/articles/search?title=softly')).json.data).toEqual([]);
    const all = (await service.get('/api/articles')).json.data.map((each: { id: number }) => each.id);
    expect(all).not.toContain(id);
    expect(await column(id, 'title')).toBe('Softly');
  });
});
