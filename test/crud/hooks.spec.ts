import {
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  Length,
  Matches,
  Max,
  Min,
  MinLength,
  Validate,
  ValidateNested,
  type ValidationArguments,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import {
  AfterInsert,
  AfterLoad,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  PrimaryGeneratedColumn,
  type RemoveEvent,
  type UpdateEvent,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

const calls: string[] = [];

/** Changes what it looks at. */
@ValidatorConstraint()
class Tidies implements ValidatorConstraintInterface {
  validate(name: unknown, { object }: ValidationArguments): boolean {
    Object.assign(object, { name: String(name).trim(), by: 'Tidies' });
    return true;
  }
}

@Entity()
class Tidied {
  @PrimaryGeneratedColumn()
  id!: number;

  @Validate(Tidies)
  @Column({ length: 20 })
  name!: string;

  @Column({ type: 'varchar', length: 20, nullable: true })
  by!: string | null;
}

@Entity()
class Listened {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @Column({ type: 'varchar', length: 40, nullable: true })
  slug!: string | null;

  @Column({ type: 'varchar', length: 40, nullable: true, select: false })
  hash!: string | null;

  @BeforeInsert()
  beforeInsert(): void {
    calls.push(`beforeInsert ${this.title}`);
    this.slug = `in-${this.title}`;
    if (this.hash) this.hash = `hash of ${this.hash}`;
  }
  @AfterInsert()
  afterInsert(): void {
    calls.push(`afterInsert ${this.id}`);
  }
  @BeforeUpdate()
  beforeUpdate(): void {
    calls.push(`beforeUpdate ${this.title}`);
    this.slug = `up-${this.title}`;
  }
  @AfterUpdate()
  afterUpdate(): void {
    calls.push('afterUpdate');
  }
  @AfterLoad()
  afterLoad(): void {
    calls.push('afterLoad');
  }
  @BeforeRemove()
  beforeRemove(): void {
    calls.push(`beforeRemove ${this.title}`);
  }
  @AfterRemove()
  afterRemove(): void {
    calls.push('afterRemove');
  }
}

@Entity()
class SoftListened {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;

  @DeleteDateColumn()
  gone!: Date | null;

  @BeforeSoftRemove()
  beforeSoftRemove(): void {
    calls.push(`beforeSoftRemove ${this.title}`);
  }
  @AfterSoftRemove()
  afterSoftRemove(): void {
    calls.push('afterSoftRemove');
  }
}

@Entity()
class Subscribed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  title!: string;
}

@EventSubscriber()
class Subscriber implements EntitySubscriberInterface<Subscribed> {
  listenTo() {
    return Subscribed;
  }
  beforeInsert({ entity }: InsertEvent<Subscribed>): void {
    calls.push(`subscriber beforeInsert ${entity.title}`);
  }
  afterInsert({ entity }: InsertEvent<Subscribed>): void {
    calls.push(`subscriber afterInsert ${entity.title}`);
  }
  beforeUpdate({ entity }: UpdateEvent<Subscribed>): void {
    calls.push(`subscriber beforeUpdate ${entity?.['title']}`);
  }
  afterUpdate({ entity }: UpdateEvent<Subscribed>): void {
    calls.push(`subscriber afterUpdate ${entity?.['title']}`);
  }
  beforeRemove(_event: RemoveEvent<Subscribed>): void {
    calls.push('subscriber beforeRemove');
  }
  afterLoad(entity: Subscribed): void {
    calls.push(`subscriber afterLoad ${entity.title}`);
  }
}

@Entity()
class Computed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  first!: string;

  initials?: string;

  @AfterLoad()
  compute(): void {
    this.initials = this.first.charAt(0);
    this.first = this.first.trim();
  }
}

class Home {
  @Column({ length: 40, default: '' })
  @Length(2, 40)
  city!: string;
}

@Entity()
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60 })
  @IsEmail({}, { message: 'must be an address' })
  email!: string;

  @Column()
  @IsInt()
  @Min(18)
  @Max(99)
  age!: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  @IsOptional()
  @Matches(/^\+\d+$/)
  phone!: string | null;

  @Column({ length: 10, default: 'basic' })
  @IsIn(['basic', 'gold'])
  plan!: string;

  @Column({ length: 60, select: false })
  @MinLength(8)
  password!: string;

  @Column(() => Home)
  @ValidateNested()
  home!: Home;
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database,
      dataSource: { subscribers: [Subscriber] },
      resources: [
        { entity: Listened, endpoint: '/api/listened' },
        { entity: SoftListened, endpoint: '/api/soft' },
        { entity: Subscribed, endpoint: '/api/subscribed' },
        { entity: Computed, endpoint: '/api/computed' },
        { entity: Member, endpoint: '/api/members' },
      ],
    });
  });
  beforeEach(() => {
    calls.length = 0;
  });
  afterAll(() => service.close());

  it('[4.6] listeners of the entity run on create, and what they set is stored', async () => {
    const { json } = await service.post('/api/listened', { title: 'a', hash: 'plain' });
    expect(json.data).toEqual({ id: json.data.id, title: 'a', slug: 'in-a' });
    expect(calls).toEqual(expect.arrayContaining(['beforeInsert a', `afterInsert ${json.data.id}`]));
    const [row] = await service.dataSource
      .getRepository(Listened)
      .createQueryBuilder('r')
      .select('r.hash', 'hash')
      .where('r.id = :id', { id: json.data.id })
      .getRawMany<{ hash: string }>();
    expect(row?.hash).toBe('hash of plain');
  });

  it('[4.6] listeners of the entity run on update, and what they set is stored', async () => {
    const { id } = (await service.post('/api/listened', { title: 'a' })).json.data as { id: number };
    calls.length = 0;
    const { json } = await service.put(`/api/listened/${id}`, { title: 'b' });
    expect(json.data).toEqual({ id, title: 'b', slug: 'up-b' });
    expect((await service.get(`/api/listened/${id}`)).json.data.slug).toBe('up-b');
    expect(calls).toEqual(expect.arrayContaining(['beforeUpdate b', 'afterUpdate']));
    expect(calls).not.toContain('beforeInsert b');
  });

  it('[4.6] listeners of the entity run on delete', async () => {
    const { id } = (await service.post('/api/listened', { title: 'a' })).json.data as { id: number };
    calls.length = 0;
    expect((await service.del(`/api/listened/${id}`)).status).toBe(200);
    expect(calls).toEqual(expect.arrayContaining(['beforeRemove a', 'afterRemove']));
    expect((await service.get(`/api/listened/${id}`)).status).toBe(404);
    expect((await service.del(`/api/listened/${id}`)).status).toBe(404);
  });

  it('[4.6] listeners of a soft removal run on delete', async () => {
    const { id } = (await service.post('/api/soft', { title: 'a' })).json.data as { id: number };
    expect((await service.del(`/api/soft/${id}`)).status).toBe(200);
    expect(calls).toEqual(['beforeSoftRemove a', 'afterSoftRemove']);
    expect((await service.get(`/api/soft/${id}`)).status).toBe(404);
  });

  it('[4.6] listeners after the load run on every read', async () => {
    const { id } = (await service.post('/api/listened', { title: 'a' })).json.data as { id: number };
    for (const path of [`/api/listened/${id}`, '/api/listened']) {
      calls.length = 0;
      await service.get(path);
      expect(calls).toContain('afterLoad');
    }
  });

  it('[4.6] what a listener after the load changes of a column is read', async () => {
    const { id } = (await service.post('/api/computed', { first: ' Ann ' })).json.data as { id: number };
    expect((await service.get(`/api/computed/${id}`)).json.data).toEqual({ id, first: 'Ann' });
  });

  it('[4.6] subscribers are told', async () => {
    const { id } = (await service.post('/api/subscribed', { title: 'a' })).json.data as { id: number };
    expect(calls).toEqual(expect.arrayContaining(['subscriber beforeInsert a', 'subscriber afterInsert a']));
    calls.length = 0;
    await service.put(`/api/subscribed/${id}`, { title: 'b' });
    expect(calls).toEqual(expect.arrayContaining(['subscriber beforeUpdate b', 'subscriber afterUpdate b']));
    calls.length = 0;
    await service.get(`/api/subscribed/${id}`);
    expect(calls).toEqual(['subscriber afterLoad b']);
    calls.length = 0;
    await service.del(`/api/subscribed/${id}`);
    expect(calls).toContain('subscriber beforeRemove');
  });

  it('[4.6] no listener runs for a record that is refused', async () => {
    await service.post('/api/listened', { title: 5 });
    await service.put('/api/listened/999999', { title: 'a' });
    expect(calls.filter((call) => !call.includes('Load'))).toEqual([]);
  });

  const member = { email: 'ann@example.com', age: 30, password: 'long enough', home: { city: 'Ulm' } };
  const created = async (): Promise<number> => (await service.post('/api/members', member)).json.data.id;

  it.each<[object, string[]]>([
    [{ email: 'nonsense' }, ['email']],
    [{ age: 17 }, ['age']],
    [{ age: 100 }, ['age']],
    [{ phone: '0731' }, ['phone']],
    [{ plan: 'silver' }, ['plan']],
    [{ password: 'short' }, ['password']],
    [{ home: { city: 'U' } }, ['home.city']],
    [{ email: 'x', age: 1, plan: 'x', phone: 'x' }, ['age', 'email', 'phone', 'plan']],
    // What the columns refuse and what the decorators refuse, in one answer.
    [{ email: 5, age: 1 }, ['age', 'email']],
    [{ colour: 'red', age: 1 }, ['age', 'colour']],
  ])('[4.6] class-validator decorators of the entity apply: %j', async (fields, names) => {
    expect(wrongFields(await service.post('/api/members', { ...member, ...fields }))).toEqual(names);
    const id = await created();
    expect(wrongFields(await service.put(`/api/members/${id}`, { ...member, ...fields }))).toEqual(names);
    expect((await service.get(`/api/members/${id}`)).json.data).toMatchObject({ email: 'ann@example.com', age: 30 });
  });

  it('[4.6] the message of a decorator is the message of its field', async () => {
    const { json } = await service.post('/api/members', { ...member, email: 'nonsense' });
    expect(json.errors).toEqual([{ field: 'email', message: 'must be an address' }]);
  });

  it('[4.6] decorators take what they allow, and optional fields may be left out', async () => {
    const { status, json } = await service.post('/api/members', { ...member, phone: '+49731' });
    expect([status, json.data]).toEqual([
      201,
      { id: json.data.id, email: member.email, age: 30, phone: '+49731', plan: 'basic', home: { city: 'Ulm' } },
    ]);
    const again = await service.put(`/api/members/${json.data.id}`, member);
    expect([again.status, again.json.data.phone]).toEqual([200, null]);
  });

  it('[4.6] decorators of a hidden column do not stand in the way of a PUT that leaves it out', async () => {
    const id = await created();
    const { password: _password, ...rest } = member;
    expect((await service.put(`/api/members/${id}`, rest)).status).toBe(200);
    const read = (await service.get(`/api/members/${id}`)).json.data;
    expect((await service.put(`/api/members/${id}`, read)).status).toBe(200);
    expect(wrongFields(await service.post('/api/members', rest))).toEqual(['password']);
  });

  it('[4.6] a value that a decorator of a hidden column refuses is not in the answer', async () => {
    const { text } = await service.post('/api/members', { ...member, password: 'canary' });
    expect(text).not.toContain('canary');
  });
});

describe.each(DATABASES)('on %s', (database) => {
  it.each(['compiled', 'repository'] as const)(
    '[4.6] what a class-validator constraint makes of an entity is what is stored, on the path %s',
    async (path) => {
      const service = await startCrud('express', {
        database,
        path,
        entities: [Tidied],
        resources: [{ entity: Tidied, endpoint: '/api/tidied' }],
      });
      const answers = [
        await service.post('/api/tidied', { name: ' a ' }),
        await service.put('/api/tidied/1', { name: ' b ', by: 'me' }),
        await service.put('/api/tidied/1', { name: ' c ' }),
        await service.get('/api/tidied/1'),
      ];
      expect(answers.map(({ json }) => json.data)).toEqual(
        ['a', 'b', 'c', 'c'].map((name) => ({ id: 1, name, by: 'Tidies' })),
      );
      await service.close();
    },
  );
});
