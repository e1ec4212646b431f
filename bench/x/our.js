var __decorate =
  (this && this.__decorate) ||
  function (decorators, target, key, desc) {
    var c = arguments.length,
      r = c < 3 ? target : desc === null ? (desc = Object.getOwnPropertyDescriptor(target, key)) : desc,
      d;
    if (typeof Reflect === 'object' && typeof Reflect.decorate === 'function')
      r = Reflect.decorate(decorators, target, key, desc);
    else
      for (var i = decorators.length - 1; i >= 0; i--)
        if ((d = decorators[i])) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return (c > 3 && r && Object.defineProperty(target, key, r), r);
  };
/** The same service, declared: on Express as it is, on Express with the package's own adapter, and on Fastify. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Injectable, Module, RequestMethod } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, cors, CrudController, CrudModule, routesOf, SecurityConfig } from 'declarest';
import { Entity } from 'typeorm';
import { databaseOptions } from '../dist/nest/database.js';
import { furtherResources } from '../dist/nest/further-resources.js';
import { Product } from '../dist/nest/product.entity.js';
import { rules } from '../dist/rules.js';
import { ORIGIN, PLATFORM, PRODUCTS, PROTECTED, ready, SECRET } from '../dist/settings.js';
let User = class User extends AuthUser {};
User = __decorate([Entity('users')], User);
let Security = class Security extends SecurityConfig {
  configure() {
    this.publicEndpoints('/api/**');
    for (const { pattern, role } of rules)
      if (role) this.requireRole(role, pattern);
      else this.requireAuth(pattern);
  }
};
Security = __decorate([Injectable()], Security);
class ProductsController extends CrudController({
  entity: Product,
  endpoint: PRODUCTS,
  enablePagination: true,
  enableSearch: true,
  searchableFields: ['name'],
}) {}
/** Not every version of the package has it. */
const tokenCacheSize = Number(process.env['BENCH_TOKEN_CACHE'] ?? 0);
const F = new Set((process.env.F ?? 'auth+cors+rules').split('+'));
let AppModule = class AppModule {
  configure(consumer) {
    if (F.has('noop'))
      consumer
        .apply(
          class {
            use(a, b, n) {
              n();
            }
          },
        )
        .forRoutes(...routesOf(ProductsController));
    if (F.has('wild')) consumer.apply(cors(ORIGIN)).forRoutes({ path: '*path', method: RequestMethod.ALL });
    if (F.has('cors')) consumer.apply(cors(ORIGIN)).forRoutes(...routesOf(ProductsController));
  }
};
AppModule = __decorate(
  [
    Module({
      imports: [
        TypeOrmModule.forRoot(databaseOptions),
        ...(F.has('auth')
          ? [
              AuthModule.forRoot({
                userClass: User,
                jwtSecret: SECRET,
                bcryptRounds: 10,
              }),
            ]
          : []),
        CrudModule.forFeature(
          ProductsController,
          { entity: Product, endpoint: PROTECTED, enablePagination: true },
          ...furtherResources.map((resource) => ({ ...resource, enablePagination: true })),
        ),
      ],
      providers: F.has('rules') ? [Security] : [],
    }),
  ],
  AppModule,
);
async function adapterOf(platform) {
  if (platform === 'fastify') return new FastifyAdapter();
  if (platform === 'express') return new ExpressAdapter();
  const own = await import(platform);
  return new own.ExpressAdapter();
}
const app = await NestFactory.create(AppModule, await adapterOf(PLATFORM), { logger: ['error'] });
await app.listen(0, '127.0.0.1');
ready(app.getHttpServer().address().port);
