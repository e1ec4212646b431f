/** A small model in an SQLite database in memory, for the conditions on its records. */
import { from, lastValueFrom } from 'rxjs';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import type { CrudOptions } from '../../lib/crud/declare/crud-options.js';
import { requestContextInterceptor } from '../../lib/crud/nest/request-context.js';
import { resolveCrudOptions } from '../../lib/crud/declare/resolve-options.js';
import { compileResource, type Resource } from '../../lib/crud/plan/resource.js';
import type { FindProvider } from '../../lib/crud/plan/row-rules.js';

@Entity()
export class Writer {
  @PrimaryGeneratedColumn({ name: 'writer_id' })
  id!: number;

  @Column({ unique: true })
  name!: string;

  @DeleteDateColumn()
  goneAt!: Date | null;

  @OneToMany('Article', 'writer')
  articles!: Relation<Article>[];
}

@Entity()
export class Tag {
  @PrimaryGeneratedColumn({ name: 'tag_id' })
  id!: number;

  @Column()
  word!: string;

  @ManyToMany('Article', 'tags')
  articles!: Relation<Article>[];
}

class Place {
  @Column({ type: 'varchar', nullable: true })
  city!: string | null;
}

@Entity()
export class Article {
  @PrimaryGeneratedColumn({ name: 'article_id' })
  id!: number;

  @Column()
  title!: string;

  @Column({ type: 'text', nullable: true })
  note!: string | null;

  @Column({ type: 'int', nullable: true, name: 'page_count' })
  pages!: number | null;

  @Column({ default: true })
  free!: boolean;

  @Column({ type: 'datetime', nullable: true })
  readAt!: Date | null;

  @Column({ type: 'int', nullable: true })
  ownerId!: number | null;

  @Column(() => Place)
  place!: Place;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @ManyToOne(() => Writer, ({ articles }) => articles, { nullable: true })
  writer!: Writer | null;

  /** By another column than the key. */
  @ManyToOne(() => Writer, { nullable: true })
  @JoinColumn({ name: 'editor_name', referencedColumnName: 'name' })
  editor!: Writer | null;

  @ManyToOne(() => Article, { nullable: true })
  sequelOf!: Relation<Article> | null;

  @ManyToMany(() => Tag, ({ articles }) => articles)
  @JoinTable({ name: 'article_tag' })
  tags!: Tag[];

  @OneToOne('Cover', 'article')
  cover!: Relation<Cover> | null;
}

@Entity()
export class Cover {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  colour!: string;

  @OneToOne(() => Article, ({ cover }) => cover)
  @JoinColumn({ name: 'articleId' })
  article!: Article;
}

export const openDatabase = (): Promise<DataSource> =>
  new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    synchronize: true,
    entities: [Article, Writer, Tag, Cover],
  }).initialize();

export const resourceOf = (
  dataSource: DataSource,
  options: Partial<CrudOptions<Article>> = {},
  findProvider: FindProvider = () => undefined,
): Resource<Article> =>
  compileResource(resolveCrudOptions({ entity: Article, endpoint: '/articles', ...options }), dataSource, findProvider);

/** Calls a function as the handler of a request does. */
export const during = <R>(request: object, call: () => Promise<R>): Promise<R> =>
  lastValueFrom(
    requestContextInterceptor.intercept({ switchToHttp: () => ({ getRequest: () => request }) } as never, {
      handle: () => from(Promise.resolve().then(call)),
    }) as ReturnType<typeof from<Promise<R>>>,
  );
