import { type DynamicModule, Inject, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, cors, CrudModule, LoginMethod, routesOf } from 'declarest';

import { AdminController } from './admin.controller.js';
import { Category } from './category.js';
import { CONFIG, type Config } from './config.js';
import { databaseOptions } from './database.js';
import { FirstStart } from './first-start.js';
import { Order } from './order.js';
import { ProductsController } from './products.controller.js';
import { ShopSecurity } from './shop-security.js';
import { User } from './user.js';

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
          jwtExpirationHours: 24,
        }),
        CrudModule.forFeature(
          ProductsController,
          { entity: Category, endpoint: '/api/categories', enablePagination: true },
          { entity: Order, endpoint: '/api/orders', enablePagination: true },
        ),
      ],
      controllers: [AdminController],
      providers: [ShopSecurity, FirstStart, { provide: CONFIG, useValue: config }],
    };
  }

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Browsers at the origin of the shop may call everything except the admin area. */
  configure(consumer: MiddlewareConsumer): void {
    const catalogue = [...routesOf(ProductsController), '/api/categories', '/api/categories/*path'];
    const checkout = ['/api/auth/*path', '/api/orders', '/api/orders/*path'];
    consumer.apply(cors(this.config.shopOrigin)).forRoutes(...catalogue, ...checkout);
  }
}
