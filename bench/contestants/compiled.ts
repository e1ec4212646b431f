/**
 * The ordinary prototype: plain Nest controllers and a plain guard, with compiled SQL behind them.
 *
 * Handlers return objects through Nest, and TypeORM's query runner runs the SQL. Only a KeyObject, a rule look-up by path
 * levels and an Express adapter that keeps the prototypes of messages make it faster than the hand-written controller.
 */
import 'reflect-metadata';
import { type INestApplication, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ExpressAdapter } from './compiled/express-adapter.js';
import { ProductsController, ProtectedProductsController } from './compiled/products.controller.js';
import { ProductsStore } from './compiled/products.store.js';
import { RulesGuard } from './compiled/rules.guard.js';
import { databaseOptions } from './nest/database.js';
import { serve } from './serve.js';
import { PLATFORM } from './settings.js';

@Module({
  imports: [TypeOrmModule.forRoot(databaseOptions)],
  controllers: [ProductsController, ProtectedProductsController],
  providers: [ProductsStore, { provide: APP_GUARD, useClass: RulesGuard }],
})
class AppModule {}

const adapter = PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
await serve(await NestFactory.create<INestApplication>(AppModule, adapter, { logger: ['error'] }));
