/** The same service with declarest: on Nest's Express adapter, on Fastify, and on the adapter of declarest/express. */
import 'reflect-metadata';
import { Injectable, type INestApplication, Module } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  AuthSession,
  AuthUser,
  CrudController,
  CrudModule,
  type CrudResource,
  SecurityConfig,
} from 'declarest';
import { ExpressAdapter as OwnExpressAdapter } from 'declarest/express';
import { DataSource, type DataSourceOptions, Entity } from 'typeorm';
import { Article, Author, Comment } from './nest/article.entity.js';
import { databaseOptions } from './nest/database.js';
import { furtherResources } from './nest/further-resources.js';
import { Product } from './nest/product.entity.js';
import { rules } from './rules.js';
import { serve } from './serve.js';
import {
  ARTICLES,
  HAS_ARTICLES,
  HAS_SESSIONS,
  OWN_ARTICLES,
  ADAPTER,
  PRODUCTS,
  PROTECTED,
  SECRET,
} from './settings.js';

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

const articles = {
  entity: Article,
  enablePagination: true,
  filterableFields: ['authorId', 'status', 'views'],
  sortableFields: ['publishedAt'],
  includableRelations: ['author', 'comments'],
  enableBatch: true,
} as const;
const articleResources: CrudResource[] = [
  { ...articles, endpoint: ARTICLES },
  { ...articles, endpoint: OWN_ARTICLES, owner: { field: 'ownerId', reads: true } },
];

@Module({
  imports: [
    TypeOrmModule.forRoot(databaseOptions),
    TypeOrmModule.forFeature(HAS_ARTICLES ? [Author, Comment] : []),
    AuthModule.forRoot({ userClass: User, jwtSecret: SECRET, ...(HAS_SESSIONS && { sessions: true }) }),
    CrudModule.forFeature(
      ProductsController,
      { entity: Product, endpoint: PROTECTED, enablePagination: true },
      ...(HAS_ARTICLES ? articleResources : []),
      ...furtherResources.map((resource) => ({ ...resource, enablePagination: true })),
    ),
  ],
  providers: [Security],
})
class AppModule {}

/** The only table that is not in the data of every run. */
async function makeSessionTable(): Promise<void> {
  const options = { ...databaseOptions, entities: [AuthSession], synchronize: true } as DataSourceOptions;
  const dataSource = await new DataSource(options).initialize();
  await dataSource.destroy();
}

if (HAS_SESSIONS) await makeSessionTable();

const ADAPTERS: Record<string, new () => object> = {
  express: ExpressAdapter,
  'own-express': OwnExpressAdapter,
  fastify: FastifyAdapter,
};

const Adapter = ADAPTERS[ADAPTER] ?? ExpressAdapter;
const adapter = new Adapter() as AbstractHttpAdapter;
await serve(await NestFactory.create<INestApplication>(AppModule, adapter, { logger: ['error'] }));
