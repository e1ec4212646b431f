import { BeforeInsert, Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Type } from '@nestjs/common';
import { CrudController } from 'declarest';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { crudError, startCrud } from './service.js';

@Entity()
class NoKey {
  @Column()
  name!: string;
}

@Entity()
class CompositeKey {
  @PrimaryColumn()
  id!: number;

  @PrimaryColumn()
  part!: number;
}

@Entity()
class CompositeWithGenerated {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @PrimaryColumn()
  tenant!: string;
}

@Entity()
class OtherName {
  @PrimaryGeneratedColumn()
  productId!: number;
}

@Entity()
class OtherNameBesideId {
  @PrimaryGeneratedColumn()
  key!: number;

  @Column()
  id!: number;
}

@Entity()
class NotGenerated {
  @PrimaryColumn()
  id!: number;
}

@Entity()
class NotGeneratedText {
  @PrimaryColumn()
  id!: string;
}

@Entity()
class Target {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity()
class KeyIsRelation {
  @ManyToOne(() => Target)
  @JoinColumn({ name: 'id' })
  @PrimaryColumn()
  id!: Target;
}

@Entity()
class TextKey {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @Column()
  name!: string;

  @BeforeInsert()
  setId(): void {
    this.id = `key-${this.name}`;
  }
}

@Entity()
class InitialisedKey {
  @PrimaryColumn({ type: 'varchar', length: 30 })
  id = `k${Math.random()}`;

  @Column()
  name!: string;
}

@Entity()
class UuidKey {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  name!: string;
}

/** SQLite does not tell of it when it has made a record. */
@Entity()
class UntoldKey {
  @PrimaryColumn({ type: 'varchar', default: () => 'lower(hex(randomblob(8)))' })
  id!: string;
}

@Entity({ name: 'renamed_key' })
class RenamedKey {
  @PrimaryGeneratedColumn({ name: 'pk_of_it' })
  id!: number;

  @Column({ name: 'name_of_it' })
  name!: string;
}

abstract class Base {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity()
class InheritedKey extends Base {
  @Column()
  name!: string;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  it.each<[string, Type, RegExp[]]>([
    ['without a primary key', NoKey, [/NoKey/, /primary/i]],
    ['with a composite key', CompositeKey, [/CompositeKey/, /PrimaryGeneratedColumn/]],
    [
      'with a composite key of which one part is generated',
      CompositeWithGenerated,
      [/CompositeWithGenerated/, /tenant/],
    ],
    ['whose key is not named id', OtherName, [/OtherName/, /productId/, /`id`|"id"|named id/]],
    ['whose key has another name beside a column id', OtherNameBesideId, [/OtherNameBesideId/, /key/]],
    ['whose id is not generated', NotGenerated, [/NotGenerated/, /generated/, /PrimaryGeneratedColumn/]],
    ['whose text id is not generated', NotGeneratedText, [/NotGeneratedText/, /generated/]],
    ['whose id the database keeps for itself', UntoldKey, [/UntoldKey/, /generated/, /PrimaryGeneratedColumn/]],
    ['whose id is a relation', KeyIsRelation, [/KeyIsRelation/]],
  ])('[4.8] an entity %s refuses to boot and says how to fix it', async (_what, entity, says) => {
    const { message } = await crudError(platform, {
      entities: [Target, entity],
      resources: [{ entity, endpoint: '/api/records' }],
    });
    for (const what of says) expect(message).toMatch(what);
    expect(message).not.toMatch(/\n\s+at |SQLITE|QueryFailed/);
  });

  it('[4.8] a generated controller that stands in `controllers` is refused in the same words', async () => {
    const entity = NotGenerated;
    const resource = { entity, endpoint: '/api/records' };
    const own = await crudError(platform, { entities: [entity], controllers: [CrudController(resource)] });
    expect(own.message).toBe((await crudError(platform, { entities: [entity], resources: [resource] })).message);
  });
});

describe.each(DATABASES)('on %s', (database) => {
  @Entity()
  class BigKey {
    // SQLite generates keys of the type "integer" only, which has 64 bits there.
    @PrimaryGeneratedColumn('increment', { type: database === 'sqlite' ? 'integer' : 'bigint' })
    id!: string;

    @Column()
    name!: string;
  }

  describe.each(PLATFORMS)('and %s', (platform) => {
    const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    it.each<[string, Type, unknown, string]>([
      ['a text id set before the insert', TextKey, 'key-a', 'key-none'],
      ['a text id that the class initialises', InitialisedKey, expect.stringMatching(/^k0\./), 'none'],
      ['a UUID id', UuidKey, expect.stringMatching(UUID), '00000000-0000-4000-8000-000000000000'],
      ['a 64-bit id', BigKey, 1, '2'],
      ['an id of a column with another name', RenamedKey, 1, '2'],
      ['an id of a base class', InheritedKey, 1, '2'],
    ])('[4.8] every operation works with %s', async (_what, entity, id, missing) => {
      const service = await startCrud(platform, {
        database,
        entities: [entity],
        resources: [
          {
            entity,
            endpoint: '/api/records',
            enableSearch: true,
            enableExists: true,
            enablePagination: true,
            searchableFields: ['name'],
          },
        ],
      });
      const { status, json, headers } = await service.post('/api/records', { name: 'a' });
      expect([status, json.data]).toEqual([201, { id, name: 'a' }]);
      const own = json.data.id as string | number;
      const path = `/api/records/${own}`;
      expect(headers['location']).toBe(path);
      expect((await service.get(path)).json.data).toEqual({ id: own, name: 'a' });
      expect((await service.put(path, { id: own, name: 'b' })).json.data).toEqual({ id: own, name: 'b' });
      expect((await service.get('/api/records')).json.data).toEqual([{ id: own, name: 'b' }]);
      expect((await service.get('/api/records/search?q=B')).json.data).toEqual([{ id: own, name: 'b' }]);
      expect((await service.get(`/api/records/exists/${own}`)).json.data).toEqual({ exists: true });
      expect((await service.get(`/api/records/exists/${missing}`)).json.data).toEqual({ exists: false });
      expect((await service.get(`/api/records/${missing}`)).json.message).toBe(
        `${entity.name} with id ${missing} not found`,
      );
      expect((await service.put(`/api/records/${missing}`, { name: 'c' })).status).toBe(404);
      expect((await service.del(`/api/records/${missing}`)).status).toBe(404);
      expect((await service.del(path)).status).toBe(200);
      expect((await service.get('/api/records')).json.metadata.pagination.total).toBe(0);
      await service.close();
    });
  });
});

describe('text ids', () => {
  @Entity()
  class Free {
    @PrimaryColumn({ length: 40 })
    id!: string;

    @Column()
    name!: string;

    @BeforeInsert()
    setId(): void {
      this.id = this.name;
    }
  }

  it.each([
    ['a space', 'a b', 'a%20b'],
    ['a slash', 'a/b', 'a%2Fb'],
    ['a percent sign', '50%', '50%25'],
    ['letters of other alphabets', 'ключ', encodeURIComponent('ключ')],
    ['a quote', "o'hara", "o'hara"],
    ['a question mark', 'a?b#c', 'a%3Fb%23c'],
    ['a name of the prototype', '__proto__', '__proto__'],
  ])('[4.8] [4.1] may hold %s, and the Location of a new record leads to it', async (_what, id, encoded) => {
    const service = await startCrud('express', {
      entities: [Free],
      resources: [{ entity: Free, endpoint: '/api/free' }],
    });
    const { headers, json } = await service.post('/api/free', { name: id });
    expect([json.data.id, headers['location']]).toEqual([id, `/api/free/${encoded}`]);
    expect((await service.get(headers['location'] ?? '')).json.data).toEqual({ id, name: id });
    await service.close();
  });

  it('[4.8] [4.3] that are taken are 409, and the record that has it stays', async () => {
    const service = await startCrud('fastify', {
      entities: [TextKey],
      resources: [{ entity: TextKey, endpoint: '/api/records' }],
    });
    await service.post('/api/records', { name: 'a' });
    expect((await service.post('/api/records', { name: 'a' })).status).toBe(409);
    expect((await service.get('/api/records')).json.data).toEqual([{ id: 'key-a', name: 'a' }]);
    await service.close();
  });
});

/** On the prototype; a field of the class stands before it, but not in an entity whose constructor has not run. */
const reading =
  (seen: string): PropertyDecorator =>
  (prototype, name) => {
    Object.defineProperty(prototype, name, { configurable: true, get: () => seen });
  };

@Entity()
class Shadowing {
  @PrimaryGeneratedColumn()
  id!: number;

  @reading('of the prototype')
  @Column()
  name: string = '';
}

class Meta {
  @Column({ nullable: true })
  a!: string;
}

@Entity()
class Embedding {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column(() => Meta)
  meta: Meta = Object.assign(Object.create(null) as Meta, { a: 'x' });
}

describe.each(PLATFORMS)('an entity on %s', (platform) => {
  it.each<[string, Type, (text: string) => object]>([
    ['whose field stands before an accessor', Shadowing, (name) => ({ name })],
    ['whose embedded default has no prototype', Embedding, (a) => ({ meta: { a } })],
  ])('[4.3] %s is created and replaced', async (_, entity, of) => {
    const service = await startCrud(platform, {
      entities: [entity],
      path: 'compiled',
      resources: [{ entity, endpoint: '/things' }],
    });
    expect((await service.post('/things', of('new'))).json.data).toMatchObject(of('new'));
    expect((await service.put('/things/1', of('changed'))).json.data).toMatchObject(of('changed'));
    expect((await service.get('/things/1')).json.data).toMatchObject(of('changed'));
    await service.close();
  });
});
