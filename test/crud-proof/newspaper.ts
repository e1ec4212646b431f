/** An application with every rule on rows and fields, and its records: what one caller may see, and what differs. */
import { CrudModule, type CrudOptions, IdempotencyKey, type ScopeContext } from 'declarest';
import type { TestUser } from 'declarest/testing';
import {
  Column,
  type DataSource,
  DeleteDateColumn,
  Entity,
  In,
  JoinTable,
  ManyToMany,
  ManyToOne,
  type ObjectLiteral,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import type { Random } from '../access/random.js';

@Entity()
export class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @Column({ length: 20 }) email!: string;
  @Column() team!: number;
  @OneToMany('Article', 'author') articles!: Relation<Article>[];
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Entity()
export class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) label!: string;
  @Column({ default: true }) shown!: boolean;
  @ManyToMany('Article', 'tags') articles!: Relation<Article>[];
}

@Entity()
export class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) slug!: string | null;
  @Column({ type: 'int', nullable: true }) price!: number | null;
  @Column({ type: 'int', nullable: true }) cost!: number | null;
  @Column() team!: number;
  @Column() ownerId!: number;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
  @ManyToOne(() => Author, ({ articles }) => articles, { nullable: true, onDelete: 'SET NULL' }) author!: Author | null;
  @ManyToMany(() => Tag, ({ articles }) => articles) @JoinTable({ name: 'article_tag' }) tags!: Tag[];
  @OneToMany('Comment', 'article') comments!: Relation<Comment>[];
}

@Entity()
export class Comment {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) text!: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note!: string | null;
  @Column() writerId!: number;
  @ManyToOne(() => Article, ({ comments }) => comments, { onDelete: 'CASCADE' }) article!: Article;
}

export const ENTITIES = [Author, Tag, Article, Comment, IdempotencyKey];
export const CALLER: TestUser = { sub: 1, roles: ['USER'] };

const ownTeam = ({ user }: ScopeContext): { team: number } => ({ team: Number(user?.id ?? 0) });
const everywhere = {
  enablePagination: 'both',
  enableSearch: true,
  enableExists: true,
  enableCount: true,
  enableBatch: true,
  enableIdempotency: true,
} as const;

const authors: CrudOptions<Author> = {
  ...everywhere,
  entity: Author,
  endpoint: '/authors',
  scope: ownTeam,
  searchableFields: ['name', 'email'],
  filterableFields: ['id', 'name', 'email', 'articles.title', 'articles.cost'],
  sortableFields: ['name', 'email'],
  includableRelations: ['articles', 'articles.tags'],
  fieldPermissions: { email: { read: ['ADMIN'] } },
  deletedRoles: ['ADMIN'],
};
const tags: CrudOptions<Tag> = {
  ...everywhere,
  entity: Tag,
  endpoint: '/tags',
  scope: () => ({ shown: true }),
  searchableFields: ['label'],
  filterableFields: ['id', 'label', 'articles.title', 'articles.author.name'],
  sortableFields: ['label'],
  includableRelations: ['articles', 'articles.author'],
  linkableRelations: ['articles'],
};
const articles: CrudOptions<Article> = {
  ...everywhere,
  entity: Article,
  endpoint: '/articles',
  scope: ownTeam,
  owner: 'ownerId',
  enableExport: true,
  enableRestore: true,
  deletedRoles: ['ADMIN'],
  aggregatableFields: ['price', 'cost', 'authorId', 'title'],
  searchableFields: ['title', 'slug'],
  filterableFields: [
    ...(['id', 'title', 'price', 'cost', 'authorId', 'version', 'deletedAt'] as const),
    ...([
      'author.name',
      'author.email',
      'tags.label',
      'comments.text',
      'comments.note',
      'tags.articles.title',
    ] as const),
  ],
  sortableFields: ['title', 'price', 'cost', 'authorId', 'deletedAt'],
  defaultSort: '-cost,title',
  includableRelations: ['author', 'tags', 'comments', 'author.articles', 'tags.articles'],
  maxIncluded: 3,
  linkableRelations: ['tags'],
  fieldPermissions: { cost: { read: ['ADMIN'], write: ['ADMIN'] }, slug: { write: 'once' } },
};
const comments: CrudOptions<Comment> = {
  ...everywhere,
  entity: Comment,
  endpoint: '/articles/:articleId/comments',
  owner: { field: 'writerId', reads: true },
  enableExport: true,
  aggregatableFields: ['writerId', 'note', 'text'],
  searchableFields: ['text', 'note'],
  filterableFields: ['id', 'text', 'note', 'writerId', 'article.title', 'article.author.name', 'article.cost'],
  sortableFields: ['text', 'note'],
  includableRelations: ['article', 'article.tags'],
  fieldPermissions: { note: { read: 'never', write: 'never' } },
};

export const newspaper = () => CrudModule.forFeature(authors, tags, articles, comments);

export const TEXTS = ['a', 'B', 'ab', 'a_b', '%', 'Ä', 'zz', '=1+1'];
export const NUMBERS = [0, 1, 2, 5, 10, -3];

/** The ids of each table, those of hidden records included. */
export interface Ids {
  readonly authors: readonly number[];
  readonly tags: readonly number[];
  readonly articles: readonly number[];
  readonly comments: readonly number[];
  /** The path of each comment that the caller sees. */
  readonly paths: readonly string[];
}

const times = <R>(count: number, make: (place: number) => R): R[] =>
  Array.from({ length: count }, (_, place) => make(place));

/**
 * Replaces all records.
 *
 * @param shown decides what the caller may see: the same for both databases
 * @param hidden decides everything else
 */
export async function fill(dataSource: DataSource, shown: Random, hidden: Random): Promise<Ids> {
  for (const table of ['article_tag', 'comment', 'article', 'tag', 'author'])
    await dataSource.query(`DELETE FROM ${table}`);
  const insert = async (entity: new () => object, rows: readonly object[]): Promise<number[]> => {
    const repository = dataSource.getRepository<ObjectLiteral>(entity);
    await repository.insert([...rows]);
    const found = await repository.find({ select: { id: true }, order: { id: 'ASC' }, withDeleted: true });
    return found.map((each) => Number(each['id']));
  };
  /** Both databases decide alike which records are hidden, and insert as many, so that ids stay the same. */
  const hides = (): boolean => shown.below(2) === 0;
  const of = (random: Random) => ({
    text: () => random.of(TEXTS),
    number: () => random.of([null, ...NUMBERS]),
    idIn: (ids: readonly number[]) => ({ id: random.of(ids) }),
  });
  const [mine, other] = [of(shown), of(hidden)];
  const removed: [new () => object, number[]][] = [];
  const removable = (entity: new () => object, ids: readonly number[]): void => {
    removed.push([entity, ids.filter(() => hidden.below(2) === 0)]);
  };

  const isHiddenAuthor = times(12, hides);
  const authorIds = await insert(
    Author,
    isHiddenAuthor.map((isHidden) => {
      const isDeleted = hidden.below(2) === 0;
      const secret = { email: other.text() };
      if (!isHidden) return { ...secret, name: mine.text(), team: 1 };
      return { ...secret, name: other.text(), team: isDeleted ? 1 : 2, ...(isDeleted && { deletedAt: new Date() }) };
    }),
  );
  const isHiddenTag = times(8, hides);
  const tagIds = await insert(
    Tag,
    isHiddenTag.map((isHidden) => ({ label: (isHidden ? other : mine).text(), shown: !isHidden })),
  );
  const isHiddenArticle = times(24, hides);
  const referenced = new Set<number>();
  const articleIds = await insert(
    Article,
    isHiddenArticle.map((isHidden) => {
      const { text, number, idIn } = isHidden ? other : mine;
      const random = isHidden ? hidden : shown;
      const author = random.below(4) === 0 ? null : idIn(authorIds);
      if (author && !isHidden) referenced.add(author.id);
      const record = { title: text(), slug: text(), price: number(), author, ownerId: random.below(4) === 0 ? 2 : 1 };
      const deletedAt = random.below(6) === 0 ? new Date() : null;
      return { ...record, deletedAt, cost: other.number(), team: isHidden ? 2 : 1 };
    }),
  );
  const visibleArticles = articleIds.filter((_, place) => !isHiddenArticle[place]);
  const isHiddenComment = times(24, hides);
  const parents: number[] = [];
  const commentIds = await insert(
    Comment,
    isHiddenComment.map((isHidden) => {
      const { text, idIn } = isHidden ? other : mine;
      const article = idIn(isHidden ? articleIds : visibleArticles.length > 0 ? visibleArticles : articleIds);
      parents.push(article.id);
      return { text: text(), note: other.text(), writerId: isHidden ? 2 : 1, article };
    }),
  );
  const links = articleIds.flatMap((articleId, place) =>
    tagIds.flatMap((tagId, tagPlace) => {
      const random = isHiddenArticle[place] || isHiddenTag[tagPlace] ? hidden : shown;
      return random.below(3) === 0 ? [{ articleId, tagId }] : [];
    }),
  );
  await dataSource.createQueryBuilder().insert().into('article_tag').values(links).execute();

  const hiddenOf = (ids: readonly number[], isHidden: readonly boolean[]): number[] =>
    ids.filter((_, place) => isHidden[place]);
  removable(Comment, hiddenOf(commentIds, isHiddenComment));
  removable(Tag, hiddenOf(tagIds, isHiddenTag));
  removable(Article, visibleArticles.length > 0 ? hiddenOf(articleIds, isHiddenArticle) : []);
  removable(
    Author,
    hiddenOf(authorIds, isHiddenAuthor).filter((id) => !referenced.has(id)),
  );
  for (const [entity, ids] of removed)
    if (ids.length > 0) await dataSource.getRepository(entity).delete({ id: In(ids) });
  const paths = commentIds.flatMap((id, place) =>
    isHiddenComment[place] ? [] : [`/articles/${parents[place]}/comments/${id}`],
  );
  return { authors: authorIds, tags: tagIds, articles: articleIds, comments: commentIds, paths };
}
