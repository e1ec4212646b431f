/**
 * The ordinary prototype: plain Nest controllers and a global guard, with SQL that is written once for the table.
 *
 * Nest serialises what the handlers return, and TypeORM's query runner runs the SQL. A KeyObject and a rule look-up by path
 * levels also make it faster than the hand-written controller.
 */
import 'reflect-metadata';
import { type INestApplication, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProductsController, ProtectedProductsController } from './compiled/products.controller.js';
import { ProductsStore } from './compiled/products.store.js';
import { RulesGuard } from './compiled/rules.guard.js';
import { databaseOptions } from './nest/database.js';
import { serve } from './serve.js';
import { ADAPTER } from './settings.js';

@Module({
  imports: [TypeOrmModule.forRoot(databaseOptions)],
  controllers: [ProductsController, ProtectedProductsController],
  providers: [ProductsStore, { provide: APP_GUARD, useClass: RulesGuard }],
})
class AppModule {}

const adapter = ADAPTER === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
await serve(await NestFactory.create<INestApplication>(AppModule, adapter, { logger: ['error'] }));
