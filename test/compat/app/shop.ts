import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  Scope,
  type MiddlewareConsumer,
  type NestModule,
  type OnApplicationBootstrap,
  Version,
} from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IsInt } from 'class-validator';
import {
  AuthModule,
  cors,
  CrudController,
  CrudModule,
  OverrideNote,
  CurrentUser,
  LoginMethod,
  routesOf,
  SecurityConfig,
  UserAccounts,
  type ListQuery,
  type Principal,
} from 'declarest';
import { Category, Product, Tag, User } from './entities.js';
import { database, furnished, jwtSecret } from './environment.js';

const prefix = furnished ? '/srv' : '';

@Injectable()
class ShopSecurity extends SecurityConfig {
  override configure(): void {
    this.publicEndpoints(`${prefix}/`, `GET ${prefix}/api/products/**`, `GET ${prefix}/api/greeting`);
    this.requireAuth(`${prefix}/api/**`);
    this.requireRole('ADMIN', `${prefix}/api/admin/**`, `DELETE ${prefix}/api/products/*`, `${prefix}/v2/**`);
    this.requireRole('SUPPORT_AGENT', `${prefix}/api/support`);
  }
}

/** Routes of its own for two operations; Express would serve `/search` by the second, were it registered first. */
class ProductsController extends CrudController({
  entity: Product,
  endpoint: '/api/products',
  enablePagination: true,
  enableSearch: true,
  enableExists: true,
  searchableFields: ['name', 'description'],
}) {
  @Get()
  @OverrideNote('Only what is in stock')
  override async findAll(query: ListQuery) {
    const page = await super.findAll(query);
    return { ...page, data: page.data.filter(({ stock }) => stock > 0) };
  }

  @Get(':id')
  override async findById(id: string) {
    return super.findById(id);
  }
}

@Injectable()
class Greeting {
  readonly text = 'Good day';
}

/** Stands in a module of the application, and injects one of its providers; a constructor needs a decorated class. */
@Injectable()
class TagsController extends CrudController({ entity: Tag, endpoint: '/api/tags', maxListSize: 2 }) {
  constructor(private readonly greeting: Greeting) {
    super();
  }

  @Get('greeting')
  greet() {
    return { text: this.greeting.text };
  }
}

class Parcel {
  @IsInt()
  weight!: number;
}

@Controller()
class ShopController {
  @Get()
  welcome() {
    return { shop: 'open' };
  }

  @Get('api/greeting')
  greet(@CurrentUser() user?: Principal) {
    return { user: user ?? null };
  }

  @Get('api/admin/stats')
  stats(@CurrentUser() user: Principal) {
    return { seenBy: user };
  }

  @Get('api/support')
  support() {
    return { tickets: 0 };
  }

  @Post('api/parcels')
  send(@Body() parcel: Parcel) {
    if (parcel.weight > 30) throw new BadRequestException('too heavy');
    return { sent: parcel.weight };
  }

  @Version('2')
  @Get('reports')
  reports() {
    return { reports: [] };
  }
}

@Injectable()
class FirstUsers implements OnApplicationBootstrap {
  constructor(private readonly accounts: UserAccounts) {}

  async onApplicationBootstrap(): Promise<void> {
    const password = 'the boss of the shop';
    await this.accounts.create({ email: 'boss@shop.example', username: 'boss', password, role: 'ADMIN' });
    const gone = await this.accounts.create({ email: 'gone@shop.example', username: 'gone', password });
    await this.accounts.setActive(String(gone.id), false);
  }
}

/** Made for each request, and of a further database, which the application imports before its own. */
@Controller({ path: '/api/archived', scope: Scope.REQUEST })
class ArchiveController extends CrudController({
  entity: Category,
  endpoint: '/api/archived',
  enablePagination: true,
  dataSource: 'archive',
}) {}

const settings = { jwtSecret, bcryptRounds: 4, registrationFields: ['nickname'] };

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...database(), name: 'archive' }),
    TypeOrmModule.forRoot(database()),
    furnished
      ? AuthModule.forRootAsync({
          userClass: User,
          authBasePath: '/id',
          sessions: { revocation: 'immediate' },
          administration: true,
          throttle: { storage: 'database', tries: 3 },
          useFactory: async () => ({ ...settings, loginMethod: LoginMethod.USERNAME }),
        })
      : AuthModule.forRoot({ userClass: User, ...settings }),
    CrudModule.forFeature(ProductsController, {
      entity: Category,
      endpoint: '/api/categories',
      enablePagination: true,
    }),
    TypeOrmModule.forFeature([Tag]),
    TypeOrmModule.forFeature([Category], 'archive'),
  ],
  controllers: [ShopController, TagsController, ArchiveController],
  providers: [ShopSecurity, FirstUsers, Greeting],
})
export class ShopModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(cors('https://shop.example')).forRoutes(...routesOf(ProductsController), '/api/auth/*path');
  }
}
