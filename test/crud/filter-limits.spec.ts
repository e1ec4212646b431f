/** What a filter may cost. */
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @OneToMany('Comment', 'article') comments!: Relation<Comment>[];
}

/** Its foreign key has no index, other than on MariaDB. */
@Entity()
class Comment {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @ManyToOne(() => Article, ({ comments }) => comments, { nullable: true }) article!: Article | null;
}

const ARTICLES = 4_000;
const COMMENTS = 40_000;

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;

  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Article, Comment],
      resources: [
        {
          entity: Article,
          endpoint: '/articles',
          enablePagination: true,
          filterableFields: ['title', 'comments.text'],
        },
      ],
    });
    const { manager } = service.dataSource;
    const insert = async <T>(entity: new () => T, count: number, make: (index: number) => object): Promise<void> => {
      const rows = Array.from({ length: count }, (_, index) => make(index));
      for (let start = 0; start < count; start += 1_000)
        await manager.insert(entity, rows.slice(start, start + 1_000) as never);
    };
    await insert(Article, ARTICLES, (index) => ({ title: `t${index + 1}` }));
    // One comment belongs to no article.
    await insert(Comment, COMMENTS, (index) => ({
      text: `c${index}`,
      article: index === 0 ? null : { id: 1 + (index % ARTICLES) },
    }));
  });
  afterAll(() => service.close());

  const found = async (filter: string): Promise<[number, number[]]> => {
    const { data, metadata } = (await service.get(`/articles?size=3&${filter}`)).json;
    return [metadata.pagination.total, (data as { id: number }[]).map(({ id }) => id)];
  };

  it('[7.1] through a relation without an index reads the related table once', async () => {
    const begun = performance.now();
    expect(await found('filter[comments.text]=c7')).toEqual([1, [8]]);
    expect(await found('filter[not][comments.text]=c7')).toEqual([ARTICLES - 1, [1, 2, 3]]);
    expect(await found('filter[comments.text]=c0')).toEqual([0, []]);
    // With EXISTS, 160 million rows are read for each of them.
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  it('[7.1] takes at most five conditions on related records', async () => {
    const conditions = (count: number): string =>
      Array.from({ length: count }, (_, index) => `filter[or][${index}][comments.text]=c${index + 1}`).join('&');
    expect((await found(conditions(5)))[0]).toBe(5);
    expect(wrongFields(await service.get(`/articles?${conditions(6)}`))).toEqual(['filter[or][5][comments.text]']);
  });

  it.each(['contains', 'icontains', 'startsWith', 'endsWith'])(
    '[7.1] %s takes texts of at most 100 characters, and 500 in a request',
    async (operator) => {
      const texts = (count: number, length: number): string =>
        Array.from(
          { length: count },
          (_, index) => `filter[or][${index}][title][${operator}]=${'x'.repeat(length)}`,
        ).join('&');
      expect((await service.get(`/articles?${texts(5, 100)}`)).status).toBe(200);
      expect(wrongFields(await service.get(`/articles?${texts(1, 101)}`))).toEqual([
        `filter[or][0][title][${operator}]`,
      ]);
      expect(wrongFields(await service.get(`/articles?${texts(6, 90)}`))).toEqual([
        `filter[or][5][title][${operator}]`,
      ]);
    },
  );
});
