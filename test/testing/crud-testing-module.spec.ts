/** Unit tests of generated controllers, as applications write them. */
import { Get, Inject, Injectable, Optional, Post, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { getRepositoryToken } from '@nestjs/typeorm';
import { CrudController, type ListQuery, runAs } from 'declarest';
import { as, createCrudTestingModule } from 'declarest/testing';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { adapterFor, PLATFORMS } from '../harness/platforms.js';

@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 100 })
  title!: string;

  @Column({ type: 'int' })
  ownerId!: number;
}

@Injectable()
class Titles {
  improve(title: string): string {
    return title.toUpperCase();
  }
}

class ArticlesController extends CrudController({
  entity: Article,
  endpoint: '/api/articles',
  owner: 'ownerId',
  enablePagination: true,
}) {
  @Optional()
  @Inject(Titles)
  readonly titles?: Titles;

  @Get()
  override async findAll(query: ListQuery) {
    const list = await super.findAll(query);
    return { ...list, message: 'Our articles' };
  }

  @Post()
  override async create(body: { title: string }) {
    return super.create({ ...body, title: this.titles?.improve(body.title) ?? body.title });
  }
}

describe('createCrudTestingModule', () => {
  it('runs overrides that call super, on a database in memory', async () => {
    const module = await createCrudTestingModule([ArticlesController], [Article], [Titles]);
    const articles = module.get(ArticlesController);
    const { data } = await runAs({ id: 7 }, () => articles.create({ title: 'one' }));
    expect(data).toEqual({ id: 1, title: 'ONE', ownerId: 7 });
    expect(await articles.findAll({})).toMatchObject({ message: 'Our articles', data: [data] });
    await module.close();
    const another = await createCrudTestingModule([ArticlesController], [Article]);
    expect((await another.get(ArticlesController).findAll({})).data).toEqual([]);
    await another.close();
  });

  it.each(PLATFORMS)('serves requests on %s', async (platform) => {
    const module = await createCrudTestingModule([ArticlesController], [Article]);
    const app = module.createNestApplication(adapterFor(platform), { logger: false });
    expect((await as(app).get('/api/articles')).json).toMatchObject({ message: 'Our articles', data: [] });
    await app.close();
  });

  it('refuses wrong declarations', async () => {
    const wrong = { entity: Article, endpoint: '/api/articles', enableRestore: true };
    await expect(createCrudTestingModule([wrong], [Article])).rejects.toThrow(
      '`enableRestore` needs a @DeleteDateColumn() on Article',
    );
  });
});

describe('an entity that a relation needs', () => {
  @Entity('testing_city')
  class City {
    @PrimaryGeneratedColumn() id!: number;
  }
  class Address {
    @ManyToOne(() => City) city!: City;
  }
  @Entity('testing_shop')
  class Shop {
    @PrimaryGeneratedColumn() id!: number;
    @Column(() => Address) address!: Address;
  }
  abstract class Sold {
    @ManyToOne(() => Shop) shop!: Shop;
  }
  @Entity('testing_thing')
  class Thing extends Sold {
    @PrimaryGeneratedColumn() id!: number;
  }
  class Things extends CrudController({ entity: Thing, endpoint: '/things' }) {}

  it.each<[string, Type[], string]>([
    ['of a base class', [Thing], 'got none for Thing.shop (Shop). Add Shop to the second argument.'],
    ['of an embedded object', [Thing, Shop], 'got none for Address.city (City). Add City to the second argument.'],
  ])('%s is named at once', async (_, entities, sentence) => {
    await expect(createCrudTestingModule([Things], entities)).rejects.toThrow(
      `createCrudTestingModule must be called with every entity that a relation needs, ${sentence}`,
    );
  });

  it('is enough where it is given', async () => {
    const module = await createCrudTestingModule([Things], [Shop, City]);
    expect((await module.get(Things).findAll({})).data).toEqual([]);
    await module.close();
  });

  it('an entity that the database refuses is refused at once', async () => {
    @Entity('testing_odd')
    class Odd {
      @PrimaryGeneratedColumn() id!: number;
      @Column('tsvector') text!: string;
    }
    await expect(createCrudTestingModule([{ entity: Odd, endpoint: '/odd' }], [])).rejects.toThrow('tsvector');
  });
});

it('a testing module without a data source says what to use', async () => {
  const fake = { find: () => [] };
  const module = await Test.createTestingModule({
    controllers: [ArticlesController],
    providers: [{ provide: getRepositoryToken(Article), useValue: fake }],
  }).compile();
  await expect(module.get(ArticlesController).findAll({})).rejects.toThrow(
    'ArticlesController needs a data source, and its module has none. In a unit test, use ' +
      'createCrudTestingModule([ArticlesController], […]) of declarest/testing',
  );
});
