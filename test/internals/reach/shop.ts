/** An application whose declarations a test changes, and its access table. */
import { type INestApplication, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  AuthUser,
  CrudController,
  CrudModule,
  type CrudOptions,
  type GeneratedControllerClass,
  type ScopeContext,
  SecurityConfig,
  useScope,
} from 'declarest';
import type { AuthPlugin } from 'declarest/plugin';
import {
  Column,
  DeleteDateColumn,
  Entity,
  In,
  ManyToMany,
  JoinTable,
  ManyToOne,
  Not,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { tableChanges, type TableChange } from '../../../lib/cli/access-output.js';
import type { AccessTable } from '../../../lib/cli/access-snapshot.js';
import { compileApplication } from '../../../lib/cli/compile-application.js';
import type { Platform } from '../../harness/platforms.js';
import { TEST_SECRET } from '../../harness/tokens.js';

@Entity('reach_users')
export class User extends AuthUser {}

@Entity('reach_categories')
export class Category {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Entity('reach_tags')
export class Tag {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Entity('reach_products')
export class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column()
  cost!: number;

  @ManyToOne(() => Category)
  category!: Category;

  @ManyToMany(() => Tag)
  @JoinTable()
  tags!: Tag[];

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @VersionColumn()
  version!: number;
}

@Entity('reach_orders')
export class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  quantity!: number;

  @Column()
  customerId!: number;

  @ManyToOne(() => Product)
  product!: Product;
}

@Entity('reach_articles')
export class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  title!: string;

  @Column()
  status!: string;

  @Column()
  tenantId!: number;

  @Column()
  authorId!: number;
}

/** A scope that asks something else than the caller. */
@Injectable()
export class CategoryScope {
  scope({ user }: ScopeContext) {
    return user?.email.endsWith('@shop.example') ? true : { name: Not('secret') };
  }
}

export interface Tenant {
  readonly tenantId: number;
}

export const OPTIONS = {
  Product: {
    entity: Product,
    endpoint: '/api/products',
    includableRelations: ['category'],
    deletedRoles: ['ADMIN'],
    enableRestore: true,
    enableBatch: true,
    fieldPermissions: { cost: { read: ['ADMIN'], write: ['ADMIN'] } },
    access: { read: 'public', create: ['STAFF'], update: ['STAFF'], delete: ['ADMIN'] },
  },
  Category: {
    entity: Category,
    endpoint: '/api/categories',
    scope: useScope(CategoryScope),
    access: { read: 'public' },
  },
  Order: {
    entity: Order,
    endpoint: '/api/orders',
    filterableFields: ['product.name'],
    owner: { field: 'customerId', reads: true, except: ['ADMIN'] },
  },
  Article: {
    entity: Article,
    endpoint: '/api/articles',
    enableCount: true,
    access: { read: 'public' },
    scope: ({ user }: ScopeContext<Tenant>) =>
      user ? [{ tenantId: user.tenantId, status: In(['open', 'new']) }, { authorId: Number(user.id) }] : false,
  },
} satisfies Readonly<Record<string, CrudOptions>>;

export type Name = keyof typeof OPTIONS;
export type Changes = { readonly [N in Name]?: Readonly<Record<string, unknown>> };

/** The rules that variants add. */
interface RulesOf {
  readonly publicEndpoints: (pattern: string) => void;
  readonly requireRole: (role: string, pattern: string) => void;
}

export interface Variant {
  readonly options?: Changes;
  /** Calls of SecurityConfig behind `requireAuth('/api/**')`. */
  readonly rules?: (config: RulesOf) => void;
  readonly hierarchy?: Readonly<Record<string, readonly string[]>>;
  /** Extends the controller of orders. */
  readonly extend?: (Base: GeneratedControllerClass<Order>) => GeneratedControllerClass<Order>;
}

/** The table of the application with some of its declarations changed. */
export function tableOf(
  platform: Platform,
  { options = {}, rules, hierarchy = { ADMIN: ['STAFF'] }, extend }: Variant = {},
): Promise<AccessTable> {
  const controllers = (Object.keys(OPTIONS) as Name[]).map((name) => {
    const generated = CrudController({ ...OPTIONS[name], ...options[name] } as CrudOptions);
    return name === 'Order' && extend ? extend(generated as GeneratedControllerClass<Order>) : generated;
  });
  return tableOfResources(platform, { controllers, rules, hierarchy });
}

export interface Resources {
  readonly controllers: readonly GeneratedControllerClass<object>[];
  readonly rules?: Variant['rules'];
  readonly hierarchy?: Variant['hierarchy'];
  readonly plugins?: AuthPlugin[];
  readonly configure?: (app: INestApplication) => void;
}

/** The table of an application with these resources. */
export async function tableOfResources(
  platform: Platform,
  { controllers, rules, hierarchy = {}, plugins = [], configure }: Resources,
): Promise<AccessTable> {
  @Injectable()
  class Security extends SecurityConfig {
    override configure(): void {
      this.requireAuth('/api/**');
      rules?.({
        publicEndpoints: (pattern) => this.publicEndpoints(pattern),
        requireRole: (role, pattern) => this.requireRole(role, pattern),
      });
    }
  }
  @Module({})
  class Shop {}
  const module = {
    module: Shop,
    imports: [
      TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true }),
      TypeOrmModule.forFeature([Category, Tag, Product, Order, Article]),
      AuthModule.forRoot({ userClass: User, jwtSecret: TEST_SECRET, roleHierarchy: hierarchy, plugins }),
      CrudModule.forFeature(...(controllers as never[])),
    ],
    providers: [Security, CategoryScope],
  };
  const { compiled, reach } = await compileApplication({ module, configure }, platform);
  return { ...reach, routes: compiled.rows };
}

export const changesBetween = (before: AccessTable, after: AccessTable): TableChange[] =>
  tableChanges(before, after, { access: 'any token', requirements: [] });
