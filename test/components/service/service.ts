/** The service that the components of react-admin and refine talk to, with nothing that is made for them. */
import 'reflect-metadata';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { DataSource } from 'typeorm';

import { Article, Category, Comment, Entry, Tag } from './entities.js';
import { fill } from './rows.js';

@Module({})
class ServiceModule {}

export interface Service {
  readonly url: string;
  /** Removes all rows, and adds those of a start. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param pages the folder of the built pages
 * @param driver better-sqlite3
 */
export async function startService(pages: string, driver: unknown): Promise<Service> {
  const named = { enablePagination: true, enableSearch: true, sortableFields: ['id', 'name'] } as const;
  const app = await NestFactory.create<NestExpressApplication>(
    {
      module: ServiceModule,
      imports: [
        TypeOrmModule.forRoot({
          type: 'better-sqlite3',
          driver,
          database: ':memory:',
          autoLoadEntities: true,
          synchronize: true,
        }),
        CrudModule.forFeature(
          {
            entity: Article,
            endpoint: '/api/articles',
            enablePagination: true,
            enableSearch: true,
            searchableFields: ['title'],
            filterableFields: [
              'id',
              'title',
              'views',
              'price',
              'featured',
              'status',
              'publishedOn',
              'reviewedAt',
              'readingTime',
              'categoryId',
              'tags.id',
            ],
            sortableFields: ['id', 'title', 'views', 'price'],
            linkableRelations: ['tags'],
            enableBatch: true,
          },
          {
            entity: Category,
            endpoint: '/api/categories',
            ...named,
            searchableFields: ['name'],
            filterableFields: ['id', 'name'],
          },
          {
            entity: Tag,
            endpoint: '/api/tags',
            ...named,
            searchableFields: ['name'],
            filterableFields: ['id', 'name'],
          },
          {
            entity: Comment,
            endpoint: '/api/comments',
            enablePagination: true,
            filterableFields: ['id', 'articleId'],
            sortableFields: ['id'],
          },
          { entity: Entry, endpoint: '/api/entries', enablePagination: 'cursor', sortableFields: ['id', 'name'] },
        ),
      ],
    },
    { logger: ['error'] },
  );
  app.useStaticAssets(pages);
  await app.listen(0, '127.0.0.1');
  const { port } = new URL(await app.getUrl());
  const database = app.get(DataSource);
  return {
    url: `http://127.0.0.1:${port}`,
    reset: () => fill(database),
    close: () => app.close(),
  };
}
