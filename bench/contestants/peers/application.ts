/** What the applications of all peers have in common. */
import 'reflect-metadata';
import { type DynamicModule, type INestApplication, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Article, Author, Comment } from '../nest/article.entity.js';
import { databaseOptions } from '../nest/database.js';
import { Product } from '../nest/product.entity.js';
import { ADAPTER, SECRET } from '../settings.js';

@Module({})
class AppModule {}

/** The guard of the hand-written controller protects the protected records: no peer brings one. */
export function createApplication({ imports = [], ...parts }: ModuleMetadata): Promise<INestApplication> {
  const module: DynamicModule = {
    module: AppModule,
    imports: [
      TypeOrmModule.forRoot(databaseOptions),
      TypeOrmModule.forFeature([Product, Article, Author, Comment]),
      JwtModule.register({ global: true, secret: SECRET }),
      ...imports,
    ],
    ...parts,
  };
  const adapter = ADAPTER === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  return NestFactory.create<INestApplication>(module, adapter, { logger: ['error'] });
}
