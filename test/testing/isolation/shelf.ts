/** A small application for tenants: one entity, and controllers of the test. */
import { type INestApplication, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, CrudModule } from 'declarest';
import type { AuthPlugin } from 'declarest/plugin';
import type { IsolationOptions } from 'declarest/testing';
import { Column, CreateDateColumn, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../../access/ruled-app.js';
import { adapterFor } from '../../harness/platforms.js';
import { User } from '../../harness/shop.js';

@Entity()
export class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 40, unique: true }) title!: string;
  @CreateDateColumn() createdAt!: Date;
}

const books = CrudModule.forFeature({
  entity: Book,
  endpoint: '/books',
  enablePagination: 'both',
  owner: { field: 'tenantId', claim: 'tenantId', reads: true },
  filterableFields: ['title', 'createdAt'],
  sortableFields: ['title', 'createdAt'],
});

@Module({})
class ShelfModule {}

export const sourceOf = (app: INestApplication): DataSource => app.get(DataSource, { strict: false });

/** Creates it with two books of each tenant in a database in memory. */
export const shelf = (...controllers: Type[]): (() => Promise<INestApplication>) => shelfWith([], ...controllers);

/** @param plugins of accounts */
export const shelfWith =
  (plugins: readonly AuthPlugin[], ...controllers: Type[]): (() => Promise<INestApplication>) =>
  async () => {
    const entities = [Book, User, ...plugins.flatMap(({ tables = [] }) => tables)];
    const options = { jwtSecret: 'isolation '.repeat(4), claims: () => ({}), defaultAccess: 'public' } as const;
    const imports = [
      TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true }),
      plugins.length > 0 ? AuthModule.forRoot({ userClass: User, plugins, ...options }) : authModule(options),
      books,
    ];
    const module = { module: ShelfModule, imports, controllers };
    const app = await NestFactory.create<INestApplication>(module, adapterFor('fastify'), {
      logger: false,
      abortOnError: false,
    });
    await app.init();
    const titles = ['Emma', 'Ulysses', 'Walden', 'Dracula'];
    const records = titles.map((title, place) => ({ title, tenantId: 1 + (place % 2) }));
    await sourceOf(app).getRepository(Book).insert(records);
    return app;
  };

export const renameOthers: NonNullable<IsolationOptions['vary']> = (app) =>
  sourceOf(app).getRepository(Book).update({ id: 2 }, { title: 'Dubliners' });
