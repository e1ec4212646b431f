import {
  Controller,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  type NestModule,
  type Provider,
  type Type,
} from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import {
  AuthModule,
  type AuthOptions,
  AuthUser,
  cors,
  CrudController,
  CrudModule,
  type CrudOptions,
  OverrideNote,
  type CrudResource,
  CurrentUser,
  type GeneratedControllerClass,
  type ListQuery,
  type Principal,
  routesOf,
  SecurityConfig,
  UserAccounts,
} from 'declarest';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { request } from './client.js';
import { createDatabase, type DatabaseName, type TestDatabase } from './databases.js';
import { type Platform, type RunningApp, startApp, type StartOptions } from './platforms.js';
import { TEST_SECRET } from './tokens.js';

@Entity()
export class User extends AuthUser {}

@Entity()
export class Category {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60, unique: true })
  name!: string;
}

@Entity()
export class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('double precision')
  price!: number;

  @Column({ default: 0 })
  stock!: number;

  @ManyToOne(() => Category, { nullable: true })
  category!: Category | null;
}

/** Routes of the application itself, one for each default rule that covers no generated route. */
@Controller()
class ShopController {
  @Get()
  welcome() {
    return { shop: 'open' };
  }

  @Get('api/admin/stats')
  stats(@CurrentUser() user: Principal) {
    return { seenBy: user.email };
  }
}

/** The methods of a `SecurityConfig`, for rules that a test passes. */
export interface Rules {
  publicEndpoints: (...patterns: string[]) => void;
  requireAuth: (...patterns: string[]) => void;
  requireRole: (role: string, ...patterns: string[]) => void;
}

/** The changes that a test makes to the shop of the contract. */
export interface ShopParts {
  /** `false` leaves the module out. */
  auth?: Partial<AuthOptions> | false;
  /** `false` leaves the configuration component out. */
  rules?: ((rules: Rules) => void | Promise<void>) | false;
  products?: Partial<CrudOptions<Product>>;
  categories?: Partial<CrudOptions<Category>>;
  /** Whether `findAll` of the products is overridden to return only products in stock. */
  overridden?: boolean;
  /** Further arguments of `CrudModule.forFeature`. */
  resources?: CrudResource[];
  /** The origin of `cors(…)` on products and login; `'*'` is `cors()`. Without it there is no CORS. */
  origin?: string;
  imports?: NonNullable<ModuleMetadata['imports']>;
  controllers?: Type[];
  providers?: Provider[];
}

/** The application of the contract's first section, with this database. */
export function shopModule(database: TypeOrmModuleOptions, parts: ShopParts = {}): Type {
  const products = productsController(parts);
  const { rules = catalogueRules, auth = {} } = parts;

  @Injectable()
  class ShopSecurity extends SecurityConfig {
    override async configure(): Promise<void> {
      if (!rules) return;
      await rules({
        publicEndpoints: (...patterns) => this.publicEndpoints(...patterns),
        requireAuth: (...patterns) => this.requireAuth(...patterns),
        requireRole: (role, ...patterns) => this.requireRole(role, ...patterns),
      });
    }
  }

  @Module({
    imports: [
      TypeOrmModule.forRoot(database),
      ...(auth ? [AuthModule.forRoot(authOptions(auth))] : []),
      CrudModule.forFeature(
        products,
        { entity: Category, endpoint: '/api/categories', enablePagination: true, ...parts.categories },
        ...(parts.resources ?? []),
      ),
      ...(parts.imports ?? []),
    ],
    controllers: [ShopController, ...(parts.controllers ?? [])],
    providers: [...(rules ? [ShopSecurity] : []), ...(parts.providers ?? [])],
  })
  class ShopModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      if (parts.origin === undefined) return;
      consumer
        .apply(parts.origin === '*' ? cors() : cors(parts.origin))
        .forRoutes(...routesOf(products), '/api/auth/*path');
    }
  }
  return ShopModule;
}

export interface Shop extends RunningApp {
  /** Registers this user through HTTP and returns the token. */
  register: (email?: string) => Promise<string>;
  /** Creates an administrator, as the application's own code does, and returns the token of a login. */
  admin: (email?: string) => Promise<string>;
}

export interface ShopOptions extends ShopParts, StartOptions {
  database?: DatabaseName;
}

export const PASSWORD = 'correct horse battery';

/** Starts the shop on a free port with a database of its own. `close()` removes both. */
export async function startShop(platform: Platform, options: ShopOptions = {}): Promise<Shop> {
  const database = await createDatabase(options.database);
  const running = await startApp(platform, await declared(database, options), {
    ...options,
    onClose: async () => {
      await options.onClose?.();
      await database.drop();
    },
  });
  const { url, app } = running;
  const base = (options.auth && options.auth.authBasePath) || '/api/auth';
  const tokenFrom = async (path: string, json: object): Promise<string> => {
    const { status, text, json: body } = await request(url, 'POST', `${base}${path}`, { json });
    if (status >= 300) throw new Error(`POST ${base}${path} answered ${status} ${text}`);
    return body.data.token as string;
  };
  return {
    ...running,
    register: (email = 'ann@example.com') => tokenFrom('/register', { email, password: PASSWORD }),
    admin: async (email = 'admin@example.com') => {
      await app.get(UserAccounts, { strict: false }).create({ email, password: PASSWORD, role: 'ADMIN' });
      return tokenFrom('/login', { email, password: PASSWORD });
    },
  };
}

/** The error that the shop throws when it is declared or started. Rejects when there is none. */
export async function shopError(platform: Platform, options: ShopOptions = {}): Promise<Error> {
  let shop: Shop;
  try {
    shop = await startShop(platform, options);
  } catch (error) {
    return error as Error;
  }
  await shop.close();
  throw new Error('The shop was expected to refuse to boot, but it is up.');
}

/** Some invalid declarations throw before there is an application that would drop the database. */
async function declared(database: TestDatabase, parts: ShopParts): Promise<Type> {
  try {
    return shopModule(database.options, parts);
  } catch (error) {
    await database.drop();
    throw error;
  }
}

function catalogueRules({ publicEndpoints, requireAuth, requireRole }: Rules): void {
  publicEndpoints('/', 'GET /api/products/**');
  requireAuth('/api/**');
  requireRole('ADMIN', '/api/admin/**', 'DELETE /api/products/*');
}

function authOptions(changed: Partial<AuthOptions>): AuthOptions {
  // The minimum of bcrypt, because a suite hashes hundreds of passwords.
  return { userClass: User, jwtSecret: TEST_SECRET, bcryptRounds: 4, ...changed };
}

function productsController({ products, overridden = true }: ShopParts): GeneratedControllerClass<Product> {
  const Generated = CrudController({
    entity: Product,
    endpoint: '/api/products',
    enableSearch: true,
    enableExists: true,
    enablePagination: true,
    searchableFields: ['name', 'description'],
    ...products,
  });
  if (!overridden) return Generated;

  class ProductsController extends Generated {
    @Get()
    @OverrideNote('Only what is in stock')
    override async findAll(query: ListQuery) {
      const page = await super.findAll(query);
      return { ...page, data: page.data.filter(({ stock }) => stock > 0) };
    }

    @Get('search')
    override search(query: ListQuery) {
      return super.search(query);
    }
  }
  return ProductsController;
}
