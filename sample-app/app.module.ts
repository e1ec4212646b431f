import { type DynamicModule, Inject, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { accessEndpoint, AuthModule, cors, CrudModule, LoginMethod, routesOf } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import type { AuthPlugin } from 'declarest/plugin';

import { AdminController } from './admin.controller.js';
import { Category } from './category.js';
import { CONFIG, type Config } from './config.js';
import { databaseOptions } from './database.js';
import { FirstStart } from './first-start.js';
import { ShopMailer } from './mailer.js';
import { OrdersController } from './orders.controller.js';
import { ProductsController } from './products.controller.js';
import { ReviewsController } from './reviews.controller.js';
import { ShopSecurity } from './shop-security.js';
import { User } from './user.js';
import { UsersController } from './users.controller.js';

/** Passkeys belong to the host of the shop front. */
const loginPlugins = ({ shopOrigin }: Config): AuthPlugin[] => [
  secondFactor({ issuer: 'Shop' }),
  passkeys({ rpId: new URL(shopOrigin).hostname, origins: [shopOrigin] }),
  apiKeys(),
];

@Module({})
export class AppModule implements NestModule {
  static with(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot(databaseOptions(config.database)),
        AuthModule.forRoot({
          userClass: User,
          loginMethod: LoginMethod.EMAIL,
          jwtSecret: config.jwtSecret,
          roleHierarchy: { ADMIN: ['STAFF'] },
          sessions: { revocation: 'immediate' },
          passwordReset: true,
          administration: true,
          plugins: [accessEndpoint(), ...(config.loginPlugins ? loginPlugins(config) : [])],
          accountLinks: config.shopOrigin,
          ...(config.mailUrl !== undefined && { mailer: { useValue: new ShopMailer(config.mailUrl) } }),
        }),
        CrudModule.forFeature(ProductsController, ReviewsController, OrdersController, UsersController, {
          entity: Category,
          endpoint: '/api/categories',
          enablePagination: true,
          filterableFields: ['id', 'name'],
          sortableFields: ['id', 'name'],
        }),
      ],
      controllers: [AdminController],
      providers: [ShopSecurity, FirstStart, { provide: CONFIG, useValue: config }],
    };
  }

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Browsers at the origin of the shop may call everything except the admin area. */
  configure(consumer: MiddlewareConsumer): void {
    const controllers = [ProductsController, ReviewsController, OrdersController, UsersController];
    const others = ['/api/categories', '/api/categories/*path', '/api/auth/*path'];
    consumer.apply(cors(this.config.shopOrigin)).forRoutes(...controllers.flatMap((each) => routesOf(each)), ...others);
  }
}
