// The application that every neighbour joins. scripts/neighbours.mjs compiles it, and runs it once for each row and platform.
import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  Inject,
  Injectable,
  type INestApplication,
  Module,
  type OnApplicationBootstrap,
  Post,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModuleRef, NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IsInt, IsNotEmpty } from 'class-validator';
import {
  AccessModule,
  AuthModule,
  AuthUser,
  CrudController,
  CrudModule,
  CurrentUser,
  IdempotencyKey,
  SecurityConfig,
  UserAccounts,
} from 'declarest';
import {
  Column,
  type DataSource,
  type DataSourceOptions,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { rows } from './rows.mjs';

/** What `setup` of a row returns; each member adds to the application. */
interface Neighbour {
  imports?: NonNullable<Parameters<typeof Module>[0]['imports']>;
  controllers?: Type[];
  providers?: Provider[];
  /** Routes of the neighbour that need no login. */
  open?: string[];
  nestOptions?: object;
  configure?: (app: INestApplication) => unknown;
  /** Decorates the controller whose routes the rules open. */
  onPublicRoutes?: ClassDecorator;
  /** Finds users elsewhere, in place of AuthModule. */
  authenticate?: (request: object) => unknown;
  /** The headers of each caller, where accounts are elsewhere. */
  callers?: () => Promise<Record<string, object>>;
  typeOfUserId?: 'varchar';
  dataSourceFactory?: (options?: DataSourceOptions) => Promise<DataSource>;
}

const [name, platform] = process.argv.slice(2) as [string, 'express' | 'fastify'];
const row: { setup?: (about: { platform: string }) => Promise<Neighbour> } | undefined = rows.find(
  (each) => each.name === name,
);
const neighbour = await row?.setup?.({ platform });
const { authenticate, callers, typeOfUserId = 'int', open = [], onPublicRoutes } = neighbour ?? {};
const PASSWORD = 'correct horse battery';

@Entity()
class User extends AuthUser {}

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @IsNotEmpty()
  @Column({ length: 20, unique: true })
  name!: string;

  @Column({ default: 0 })
  stock!: number;

  @Column({ default: 7 })
  cost!: number;

  @VersionColumn()
  version!: number;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  text!: string;

  @Column({ type: typeOfUserId })
  ownerId!: number | string;
}

class ProductsController extends CrudController({
  entity: Product,
  endpoint: '/api/products',
  enablePagination: true,
  enableSearch: true,
  searchableFields: ['name'],
  filterableFields: ['name', 'stock'],
  enableBatch: true,
  enableExport: true,
  enableIdempotency: true,
  enableRestore: true,
  fieldPermissions: { cost: { read: ['ADMIN'] } },
}) {}
onPublicRoutes?.(ProductsController);

class NotesController extends CrudController({
  entity: Note,
  endpoint: '/api/notes',
  maxListSize: 100,
  owner: { field: 'ownerId', reads: true, except: ['ADMIN'] },
}) {}

class Parcel {
  @IsInt()
  weight!: number;
}

/** Hand-written routes beside the generated ones. */
@Controller()
class ShopController {
  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  @Get('api/whoami')
  whoAmI(@CurrentUser() user: { roles: string[] }) {
    return { roles: user.roles };
  }

  @Get('api/my-notes')
  myNotes() {
    return this.modules.get(NotesController, { strict: false }).findAll({});
  }

  @Post('api/parcels')
  send(@Body() parcel: Parcel) {
    return { sent: parcel.weight };
  }

  @Get('admin/report')
  report() {
    return { report: 'done' };
  }
}

@Injectable()
class Rules extends SecurityConfig {
  override configure(): void {
    this.publicEndpoints('GET /api/products/**', ...open);
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', 'DELETE /api/products/**', '/admin/**');
  }
}

@Injectable()
class FirstUsers implements OnApplicationBootstrap {
  constructor(private readonly modules: ModuleRef) {}

  async onApplicationBootstrap(): Promise<void> {
    if (authenticate) return;
    const accounts = this.modules.get(UserAccounts, { strict: false });
    await accounts.create({ email: 'boss@shop.example', password: PASSWORD, role: 'ADMIN' });
    for (const user of ['ann', 'bob']) await accounts.create({ email: `${user}@shop.example`, password: PASSWORD });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      useFactory: () => ({
        type: 'better-sqlite3',
        database: ':memory:',
        entities: [Product, Note, IdempotencyKey, ...(authenticate ? [] : [User])],
        synchronize: true,
      }),
      ...(neighbour?.dataSourceFactory && { dataSourceFactory: neighbour.dataSourceFactory }),
    }),
    authenticate
      ? AccessModule.forRoot({ authenticate: authenticate as never })
      : AuthModule.forRoot({ userClass: User, jwtSecret: 'a secret of the neighbours, long enough', bcryptRounds: 4 }),
    CrudModule.forFeature(ProductsController, NotesController),
    ...(neighbour?.imports ?? []),
  ],
  controllers: [ShopController, ...(neighbour?.controllers ?? [])],
  providers: [Rules, FirstUsers, ...(neighbour?.providers ?? [])],
})
class ShopModule {}

async function adapter() {
  if (platform === 'express') return new (await import('@nestjs/platform-express')).ExpressAdapter();
  return new (await import('@nestjs/platform-fastify')).FastifyAdapter({ forceCloseConnections: true });
}

const app = await NestFactory.create(ShopModule, await adapter(), {
  logger: ['warn', 'error'],
  ...neighbour?.nestOptions,
});
await neighbour?.configure?.(app);
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();
console.log(`\nlistening ${JSON.stringify({ url, callers: await callers?.() })}`);
