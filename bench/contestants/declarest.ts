/** The same service, declared: on Express as it is, on Express with the package's own adapter, and on Fastify. */
import 'reflect-metadata';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { Injectable, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, cors, CrudController, CrudModule, routesOf, SecurityConfig } from 'declarest';
import { Entity } from 'typeorm';
import { databaseOptions } from './nest/database.js';
import { furtherResources } from './nest/further-resources.js';
import { Product } from './nest/product.entity.js';
import { rules } from './rules.js';
import { ORIGIN, PLATFORM, PRODUCTS, PROTECTED, ready, SECRET } from './settings.js';

@Entity('users')
class User extends AuthUser {}

@Injectable()
class Security extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/api/**');
    for (const { pattern, role } of rules)
      if (role) this.requireRole(role, pattern);
      else this.requireAuth(pattern);
  }
}

class ProductsController extends CrudController({
  entity: Product,
  endpoint: PRODUCTS,
  enablePagination: true,
  enableSearch: true,
  searchableFields: ['name'],
}) {}

/** Not every version of the package has it. */
const tokenCacheSize = Number(process.env['BENCH_TOKEN_CACHE'] ?? 0);

@Module({
  imports: [
    TypeOrmModule.forRoot(databaseOptions),
    AuthModule.forRoot({
      userClass: User,
      jwtSecret: SECRET,
      bcryptRounds: 10,
      ...((tokenCacheSize > 0 && { tokenCacheSize }) as object),
    }),
    CrudModule.forFeature(
      ProductsController,
      { entity: Product, endpoint: PROTECTED, enablePagination: true },
      ...furtherResources.map((resource) => ({ ...resource, enablePagination: true })),
    ),
  ],
  providers: [Security],
})
class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(ProductsController));
  }
}

async function adapterOf(platform: string): Promise<AbstractHttpAdapter> {
  if (platform === 'fastify') return new FastifyAdapter() as unknown as AbstractHttpAdapter;
  if (platform === 'express') return new ExpressAdapter() as unknown as AbstractHttpAdapter;
  const own = (await import(platform)) as { ExpressAdapter: new () => AbstractHttpAdapter };
  return new own.ExpressAdapter();
}

const app = await NestFactory.create(AppModule, await adapterOf(PLATFORM), { logger: ['error'] });
await app.listen(0, '127.0.0.1');
ready((app.getHttpServer().address() as { port: number }).port);
