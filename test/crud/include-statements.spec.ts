/** How many statements includes and linked ids take. */
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { StatementLog } from '../harness/statement-log.js';
import { startCrud, wrongFields } from './service.js';

@Entity()
class Kind {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Entity()
class Part {
  @PrimaryGeneratedColumn() id!: number;
  @Column() size!: number;
  @ManyToOne('Thing', 'parts') thing!: Relation<Thing>;
  @ManyToOne(() => Kind) kind!: Kind;
}

@Entity()
class Thing {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @ManyToOne(() => Kind, { nullable: true }) kind!: Kind | null;
  @OneToMany(() => Part, ({ thing }) => thing) parts!: Part[];
  @ManyToMany(() => Kind) @JoinTable() kinds!: Kind[];
}

const THINGS = 1_200;

describe.each(
  DATABASES.flatMap((database) => (['compiled', 'repository'] as const).map((path) => ({ database, path }))),
)('[7.4] on $database, $path', ({ database, path }) => {
  it('one statement reads a relation of a page, however many records that has', async () => {
    const logger = new StatementLog();
    const thing = { entity: Thing, includableRelations: ['kind', 'kinds', 'parts', 'parts.kind'] } as const;
    const service = await startCrud('express', {
      database,
      path,
      entities: [Thing, Part, Kind],
      dataSource: { logger, logging: true },
      resources: [
        { ...thing, endpoint: '/things', enablePagination: true, linkableRelations: ['kinds'] },
        { ...thing, endpoint: '/all', maxListSize: THINGS },
      ],
    });
    const { dataSource } = service;
    await dataSource.getRepository(Kind).insert([{ name: 'a' }, { name: 'b' }]);
    const numbers = Array.from({ length: THINGS }, (_, index) => index + 1);
    await dataSource.getRepository(Thing).insert(numbers.map((n) => ({ name: `t${n}`, kind: { id: (n % 2) + 1 } })));
    await dataSource
      .getRepository(Part)
      .insert(numbers.map((n) => ({ size: n, thing: { id: n }, kind: { id: (n % 2) + 1 } })));
    await dataSource.createQueryBuilder().relation(Thing, 'kinds').of(numbers.slice(0, 100)).add(1);
    const include = 'include=kind,kinds,parts.kind';
    const read = async (url: string): Promise<[count: number, data: Thing[]]> => {
      logger.take();
      const { json } = await service.get(url);
      return [logger.statements.length, [json.data].flat() as Thing[]];
    };
    for (const size of [1, 20, 100]) {
      const [count, data] = await read(`/things?size=${size}&${include}`);
      // The total, the page, the linked ids, and four relations.
      expect([count, data.length]).toEqual([7, size]);
      expect(data.at(-1)).toEqual({
        id: size,
        name: `t${size}`,
        kindId: (size % 2) + 1,
        kindsIds: [1],
        kind: expect.objectContaining({ id: (size % 2) + 1 }) as unknown,
        kinds: [{ id: 1, name: 'a' }],
        parts: [{ id: size, size, thingId: size, kindId: (size % 2) + 1, kind: expect.any(Object) as unknown }],
      });
    }
    expect((await read(`/things/7?${include}`))[0]).toBe(6);
    expect((await read('/things?size=50&fields=id,name'))[0]).toBe(2);
    const [count, all] = await read(`/all?${include}`);
    expect([count, all.length]).toEqual([5, THINGS]);
    expect(all.every(({ id, parts }) => parts.length === 1 && parts[0]?.size === id)).toBe(true);
    await service.close();
  });
});

it('[7.9] a request includes at most ten relations', async () => {
  @Entity()
  class Leaf {
    @PrimaryGeneratedColumn() id!: number;
  }
  @Entity()
  class Tree {
    @PrimaryGeneratedColumn() id!: number;
  }
  const names = Array.from({ length: 11 }, (_, index) => `leaf${index}`);
  for (const name of names) ManyToOne(() => Leaf, { nullable: true })(Tree.prototype, name);
  const service = await startCrud('express', {
    entities: [Leaf, Tree],
    resources: [{ entity: Tree, endpoint: '/trees', maxListSize: 9, includableRelations: names as never[] }],
  });
  expect((await service.get(`/trees?include=${names.slice(1).join()}`)).status).toBe(200);
  const refused = await service.get(`/trees?include=${names.join()}`);
  expect(wrongFields(refused)).toEqual(['include']);
  expect(refused.text).toContain('must name at most 10 relations, got 11');
  await service.close();
});
