/** The controller of Nest's documentation, written by hand, on Express and on Fastify. */
import 'reflect-metadata';
import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Article, Author, Comment } from './nest/article.entity.js';
import { ArticlesController } from './nest/articles.controller.js';
import { databaseOptions } from './nest/database.js';
import { controllersLike, furtherResources } from './nest/further-resources.js';
import { Product } from './nest/product.entity.js';
import { ProductsController, ProtectedProductsController } from './nest/products.controller.js';
import { serve } from './serve.js';
import { HAS_ARTICLES, ADAPTER, SECRET } from './settings.js';

@Module({
  imports: [
    TypeOrmModule.forRoot(databaseOptions),
    TypeOrmModule.forFeature([
      Product,
      ...(HAS_ARTICLES ? [Article, Author, Comment] : []),
      ...furtherResources.map(({ entity }) => entity),
    ]),
    JwtModule.register({ global: true, secret: SECRET }),
  ],
  controllers: [
    ProductsController,
    ProtectedProductsController,
    ...(HAS_ARTICLES ? [ArticlesController] : []),
    ...controllersLike(ProductsController as never, [Repository]),
  ],
})
class AppModule {}

const adapter = ADAPTER === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
await serve(await NestFactory.create<INestApplication>(AppModule, adapter, { logger: ['error'] }));
