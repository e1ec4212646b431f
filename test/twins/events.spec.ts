/** Listeners and subscribers get the same events of generated writes as of `save`, `remove`, `softRemove` and `recover`. */
import {
  Body,
  Controller,
  Delete,
  HttpCode,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Put,
  Query,
  type Type,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  AfterInsert,
  AfterRecover,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  type Repository,
  VersionColumn,
} from 'typeorm';
import { AccessModule } from 'declarest';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { ONE_PLATFORM, type Platform } from '../harness/platforms.js';
import { Seen, startTwins } from './twins.js';

const seen = new Seen();
const NAMES = ['Insert', 'Update', 'Remove', 'SoftRemove', 'Recover'] as const;

@Entity()
class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

/** What all events say of an entity. Times differ between the sides, and `create` makes instances of related entities. */
const shown = (entity: object | undefined): object | undefined => {
  const { author, deletedAt, ...others } = { ...entity } as Partial<Account>;
  return entity && { ...others, author: author && { id: author.id }, deletedAt: typeof deletedAt };
};

abstract class Account {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'int', default: 5 }) balance!: number;
  @Column({ type: 'varchar', length: 20, nullable: true }) note!: string | null;
  @Column({ type: 'simple-json', nullable: true }) details!: object | null;
  @Column({ type: 'varchar', length: 20, default: 'none' }) slug!: string;
  @ManyToOne(() => Author) author!: Relation<Author> | null;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

abstract class Listening extends Account {
  see(name: string): void {
    seen.add([name, shown(this)]);
  }
  @BeforeInsert() beforeInsert(): void {
    this.see('beforeInsert');
    this.slug = `in ${this.title}`;
  }
  @AfterInsert() afterInsert(): void {
    this.see('afterInsert');
  }
  @BeforeUpdate() beforeUpdate(): void {
    this.see('beforeUpdate');
    this.slug = `up ${this.title}`;
  }
  @AfterUpdate() afterUpdate(): void {
    this.see('afterUpdate');
  }
  @BeforeRemove() beforeRemove(): void {
    this.see('beforeRemove');
  }
  @AfterRemove() afterRemove(): void {
    this.see('afterRemove');
  }
  @BeforeSoftRemove() beforeSoftRemove(): void {
    this.see('beforeSoftRemove');
  }
  @AfterSoftRemove() afterSoftRemove(): void {
    this.see('afterSoftRemove');
  }
  @BeforeRecover() beforeRecover(): void {
    this.see('beforeRecover');
  }
  @AfterRecover() afterRecover(): void {
    this.see('afterRecover');
  }
}

@Entity()
class GeneratedAccount extends Account {}
@Entity()
class HandwrittenAccount extends Account {}
@Entity()
class GeneratedListening extends Listening {}
@Entity()
class HandwrittenListening extends Listening {}

interface AnyEvent {
  readonly entity?: Account;
  readonly databaseEntity?: Account;
  readonly updatedColumns?: readonly { readonly propertyName: string }[];
  readonly updatedRelations?: readonly { readonly propertyName: string }[];
  readonly entityId?: unknown;
  readonly metadata: { readonly tableName: string };
}

/** It works with `save`: it reads members that generated writes must give it. */
function subscriber(listened: unknown): Type {
  @EventSubscriber()
  class Records implements EntitySubscriberInterface {
    listenTo(): never {
      return listened as never;
    }
  }
  for (const name of NAMES)
    for (const when of ['before', 'after'] as const)
      Object.defineProperty(Records.prototype, `${when}${name}`, {
        value({ entity, databaseEntity, updatedColumns, updatedRelations, entityId, metadata }: AnyEvent): void {
          if (metadata.tableName === 'author') return;
          if (when === 'before' && entity && name === 'Insert') entity.slug = `in ${entity.title}`;
          if (when === 'before' && entity && name === 'Update') entity.slug = `up ${databaseEntity!.title}`;
          // TypeORM names a relation twice where a subscriber has changed the entity.
          const namesOf = (changed: typeof updatedColumns) =>
            changed && [...new Set(changed.map(({ propertyName }) => propertyName))].toSorted();
          const names = [updatedColumns, updatedRelations].map(namesOf);
          seen.add([`${when}${name}`, shown(entity), shown(databaseEntity), ...names, entityId, metadata.tableName]);
        },
      });
  return Records;
}

/** What a service would do, with relations as `authorId`. */
function handwritten(entity: Type<Account>): Type {
  const valuesOf = ({ authorId, ...values }: Record<string, unknown>): object => ({
    ...values,
    ...(authorId !== undefined && { author: authorId === null ? null : { id: authorId } }),
  });

  @Controller('handwritten')
  class HandwrittenController {
    constructor(@InjectRepository(entity) readonly records: Repository<Account>) {}

    one = (id: number) => this.records.findOneOrFail({ where: { id }, withDeleted: true });

    async change(id: number, values: Record<string, unknown>): Promise<object> {
      return this.records.save(Object.assign(await this.one(id), valuesOf(values)));
    }
    @Post('batch') async createMany(@Body() { items }: { items: Record<string, unknown>[] }): Promise<object[]> {
      const created: object[] = [];
      for (const item of items) created.push(await this.create(item));
      return created;
    }
    @Patch('batch') async patchMany(@Body() { items }: { items: { id: number }[] }): Promise<object[]> {
      const changed: object[] = [];
      for (const { id, ...values } of items) changed.push(await this.change(id, values));
      return changed;
    }
    @Delete('batch') async deleteMany(@Query('ids') ids: string): Promise<void> {
      for (const id of ids.split(',')) await this.records.softRemove(await this.one(Number(id)));
    }
    @Post() create(@Body() values: Record<string, unknown>): Promise<object> {
      return this.records.save(this.records.create(valuesOf(values)));
    }
    @Put(':id') update(@Param('id', ParseIntPipe) id: number, @Body() values: Record<string, unknown>) {
      return this.change(id, values);
    }
    @Patch(':id') patch(@Param('id', ParseIntPipe) id: number, @Body() values: Record<string, unknown>) {
      return this.change(id, values);
    }
    @Delete(':id') async delete(@Param('id', ParseIntPipe) id: number, @Query('purge') purge?: string): Promise<void> {
      const record = await this.one(id);
      await (purge ? this.records.remove(record) : this.records.softRemove(record));
    }
    @Post(':id/restore') @HttpCode(200) async restore(@Param('id', ParseIntPipe) id: number): Promise<object> {
      return this.records.recover(await this.one(id));
    }
  }
  return HandwrittenController;
}

const WHO = {
  'listeners of the entity': { twins: [GeneratedListening, HandwrittenListening], listened: [] },
  'a subscriber of the entity': {
    twins: [GeneratedAccount, HandwrittenAccount],
    listened: [GeneratedAccount, HandwrittenAccount],
  },
  'a subscriber of a base class': { twins: [GeneratedAccount, HandwrittenAccount], listened: [Account] },
  'a global subscriber': { twins: [GeneratedAccount, HandwrittenAccount], listened: [undefined] },
} as const;

const CASES = ONE_PLATFORM.flatMap((platform) =>
  DATABASES.flatMap((database) => (Object.keys(WHO) as (keyof typeof WHO)[]).map((who) => [platform, database, who])),
) as [Platform, DatabaseName, keyof typeof WHO][];

describe.each(CASES)('[4.6] [issue 16] on %s and %s, %s', (platform, database, who) => {
  it('get the same of every write as of a hand-written service', async () => {
    const { twins: pair, listened } = WHO[who];
    const twins = await startTwins(platform, {
      database,
      seen,
      twins: pair as never,
      entities: [...pair, Author],
      generated: {
        enableBatch: true,
        enableRestore: true,
        deletedRoles: ['ADMIN'],
      },
      handwritten: handwritten(pair[1]),
      except: ['deletedAt', 'author', 'authorId'],
      dataSource: { subscribers: listened.map(subscriber) },
      imports: [AccessModule.forRoot({ authenticate: () => ({ id: 1, roles: ['ADMIN'] }) })],
    });
    try {
      for (const name of ['Ann', 'Bob']) await twins.dataSource.getRepository(Author).insert({ name });
      const same = async (method: string, path: string, json?: unknown): Promise<string[]> => {
        const { json: answer } = await twins.both(method, path, json);
        const events = seen.take();
        if (path !== '/1/restore' || answer.success) expect([path, events.length > 0]).toEqual([path, true]);
        return events;
      };
      await same('POST', '', { title: 'one' });
      await same('POST', '', { title: 'two', note: 'n', details: { b: 1, a: [2] }, authorId: 1 });
      await same('PATCH', '/1', { balance: 6 });
      await same('PATCH', '/2', { authorId: 2 });
      await same('PATCH', '/2', { authorId: null, details: { b: 1, a: [3] }, note: null });
      const whole = { title: 'three', balance: 5, note: null, details: { c: 1 }, slug: 'none', authorId: 1 };
      await same('PUT', '/1', whole);
      await same('POST', '/batch', { items: [{ title: 'four' }, { title: 'five', authorId: 2 }] });
      const [{ json: patched }] = [
        await twins.both('PATCH', '/batch', {
          items: [
            { id: 3, title: 'six' },
            { id: 4, note: 'x' },
          ],
        }),
      ];
      expect(patched.data[1].slug).toMatch(/^up five/);
      seen.take();
      await same('DELETE', '/1');
      await same('POST', '/1/restore');
      await same('DELETE', '/batch?ids=2,3');
      await same('DELETE', '/1?purge=true');
      await same('DELETE', '/2?purge=true');
      await twins.rows();
      // What changes nothing is no event; the version changes with every write of ours.
      const { json: again } = await twins.send('PATCH', '/generated/4', { json: { title: 'five' } });
      expect([seen.take(), again.data.version]).toEqual([[], 3]);
    } finally {
      await twins.close();
    }
  });
});
