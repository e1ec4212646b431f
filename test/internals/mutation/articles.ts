/** A small model in an SQLite database in memory, for the conditions on its records. */
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
  VersionColumn,
} from 'typeorm';
import { guardEntity } from '../../../lib/entities/entity-guard.js';
import type { CrudOptions } from '../../../lib/crud/declare/crud-options.js';
import { resolveCrudOptions } from '../../../lib/crud/declare/resolve-options.js';
import { standardOperations } from '../../../lib/crud/operations/standard-operations.js';
import type { Application } from '../../../lib/routes/application.js';
import { compilePlan, type Plan } from '../../../lib/crud/plan/plan.js';
import { followedRelations } from '../../../lib/crud/plan/list-parameters.js';
import { compileResource, describeResource, type Resource } from '../../../lib/crud/plan/resource.js';
import type { FindProvider } from '../../../lib/crud/plan/row-options.js';
import type { Relation as RelationMetadata } from '../../../lib/crud/sql/condition.js';
import { beginCall, callOf, type Call } from '../../../lib/crud/store/call.js';
import { ConnectionQueue } from '../../../lib/database/connections.js';
import { Database } from '../../../lib/crud/store/database.js';

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

  @ManyToOne(() => Tag, { nullable: true })
  broader!: Relation<Tag> | null;
}

/** Guarded as the class of the users is: a caller must still be one while the request is handled. */
@Entity()
export class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  role!: string;

  @Column({ default: true })
  active!: boolean;
}
guardEntity(Member, {
  hidden: [],
  reserved: [],
  reads: {},
  schemas: {},
  standing: (role) => ({ active: true, role, badge: 7 }),
  creation: 'let them join',
});

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

  @VersionColumn({ default: 1 })
  version!: number;

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
    entities: [Article, Writer, Tag, Cover, Member],
  }).initialize();

/** The plan of a resource of articles. @param others of the resources of related entities */
export function planOf(
  dataSource: DataSource,
  options: Partial<CrudOptions<Article>> = {},
  findProvider: FindProvider = () => undefined,
  others: ReadonlyMap<unknown, object> = new Map(),
): Plan {
  const database = new Database(dataSource, new ConnectionQueue(dataSource));
  const resolved = resolveCrudOptions({ entity: Article, endpoint: '/articles', ...options }, standardOperations);
  const resource = compileResource(resolved, database, findProvider);
  const related = ({ inverseEntityMetadata: { target } }: RelationMetadata): Plan => {
    const declared = { entity: target as typeof Writer, endpoint: '/related', ...others.get(target) };
    return leaf(describeResource(resolveCrudOptions(declared, standardOperations), database), dataSource);
  };
  return compilePlan(
    resource,
    dataSource.getRepository(Article),
    {
      relations: () =>
        new Map([...followedRelations(resource.list)].map(([path, [relation]]) => [path, related(relation)])),
      referenced: (relation) => [related(relation)],
    },
    () => true,
    { routeTable: { routes: [] } } as unknown as Application,
  );
}

const leaf = (resource: Resource, dataSource: DataSource): Plan =>
  compilePlan(
    resource as Resource,
    dataSource.getRepository<object>(resource.options.entity),
    { relations: () => new Map<string, Plan>(), referenced: () => [] },
    () => true,
    { routeTable: { routes: [] } } as unknown as Application,
  );

/** A call of a request; without one, that of code outside of requests. */
export const callFor = (request?: object): Call =>
  request ? callOf({ request: request as never, handler: {}, answers: new Map() }) : beginCall();
