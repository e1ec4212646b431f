/** How many related records an answer includes. */
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Author {
  @PrimaryGeneratedColumn() id!: number;
  @OneToMany('Article', 'author') articles!: Relation<Article>[];
}

@Entity()
class Article {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Author, ({ articles }) => articles) author!: Author;
  @OneToMany('Comment', 'article') comments!: Relation<Comment>[];
}

@Entity()
class Comment {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 10 }) text!: string;
  @ManyToOne(() => Article, ({ comments }) => comments) article!: Article;
}

const PATHS = DATABASES.flatMap((database) =>
  (['compiled', 'repository'] as const).map((path) => ({ database, path })),
);

describe.each(PATHS)('[7.4] on $database, $path', (where) => {
  let service: CrudService;

  beforeAll(async () => {
    service = await startCrud('express', {
      ...where,
      entities: [Author, Article, Comment],
      resources: [
        {
          entity: Article,
          endpoint: '/articles',
          enablePagination: true,
          includableRelations: ['comments', 'author.articles.comments'],
        },
      ],
    });
    const { manager } = service.dataSource;
    for (const author of [{}, {}]) await manager.insert(Author, author);
    // 60 articles of the first author, with 80 comments each, and 102 of the second one, the first with 101 comments.
    await manager.insert(
      Article,
      Array.from({ length: 162 }, (_, index) => ({ author: { id: index < 60 ? 1 : 2 } })),
    );
    const comments = Array.from({ length: 60 * 80 + 101 }, (_, index) => ({
      text: 'x',
      article: { id: index < 4_800 ? 1 + (index % 60) : 61 },
    }));
    for (let start = 0; start < comments.length; start += 500)
      await manager.insert(Comment, comments.slice(start, start + 500));
  });
  afterAll(() => service.close());

  const include = 'include=author.articles.comments';

  it('is at most 5,000, counted with repeats; more are 400', async () => {
    const { status, json } = await service.get(`/articles/1?${include}`);
    const articles = json.data.author.articles as { comments: unknown[] }[];
    expect([status, articles.length, articles[59]!.comments.length]).toEqual([200, 60, 80]);
    expect(json.metadata).toBeUndefined();
    // The same author, twice.
    const refused = await service.get(`/articles?size=2&${include}`);
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      [
        {
          field: 'include',
          message: 'must give at most 5000 related records in an answer: include less of fewer records',
        },
      ],
    ]);
  });

  it('says which relations have more records than maxIncluded', async () => {
    const { json } = await service.get(`/articles/61?${include},comments`);
    expect(json.metadata).toEqual({ truncated: ['comments', 'author.articles', 'author.articles.comments'] });
    expect([json.data.comments.length, json.data.author.articles.length]).toEqual([100, 100]);
    const list = (await service.get('/articles?page=61&size=1&include=comments')).json;
    expect(list.metadata).toMatchObject({ pagination: { total: 162 }, truncated: ['comments'] });
  });
});
