/** A service with what the sample shop does not have, for `scripts/admin-for.mjs`. */
import 'reflect-metadata';

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Body, HttpCode, Module, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiProperty, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import {
  administration,
  AuthModule,
  AuthUser,
  CrudModule,
  LoginMethod,
  Roles,
  sessions,
  UserAccounts,
} from 'declarest';
import { diskStorage, FileColumn, FileCrudController, type StoredFile } from 'declarest-files';
import { waysIn } from 'declarest-logins/administration';
import { addAccess, serveDocuments } from 'declarest/openapi';
import { describeService } from 'ra-data-declarest/description';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { TypeOrmModule } from '@nestjs/typeorm';

@Entity()
class Editor extends AuthUser {}

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @Column({ length: 8, unique: true }) code!: string;
}

@Entity()
class Section {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

@Entity()
class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
  @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true }) price!: number | null;
  @Column({ type: 'boolean', nullable: true }) featured!: boolean | null;
  @Column({ type: 'simple-enum', enum: ['draft', 'final'], nullable: true }) state!: string | null;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @ManyToOne(() => Section, { nullable: true }) section!: Section | null;
  @FileColumn({ types: ['image/png', 'image/jpeg'], maxBytes: 20_000 }) photo!: StoredFile | null;
  @FileColumn({ types: ['application/pdf'], maxBytes: 20_000 }) sheet!: StoredFile | null;
  @DeleteDateColumn() deletedAt!: Date | null;
  @VersionColumn() version!: number;
}

@Entity()
class StockLevel {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 40, nullable: true }) carrier!: string | null;
  @Column({ type: 'simple-json', nullable: true }) counts!: object | null;
}

class Publication {
  @ApiProperty({ minLength: 1 }) place!: string;
  @ApiProperty({ required: false }) copies?: number;
}

const folder = mkdtempSync(join(tmpdir(), 'declarest-admin-for-files-'));

class ArticlesController extends FileCrudController(
  {
    entity: Article,
    endpoint: '/api/articles',
    enablePagination: true,
    enableRestore: true,
    deletedRoles: ['ADMIN'],
    filterableFields: ['id', 'title', 'price', 'featured', 'tags.id'],
    sortableFields: ['id', 'title', 'price', 'section.name'],
    includableRelations: ['section'],
    linkableRelations: ['tags'],
  },
  diskStorage(folder),
) {
  @Post(':id/publish')
  @Roles('ADMIN')
  @HttpCode(200)
  publish(@Param('id') id: string, @Body() { place, copies }: Publication) {
    return { message: `Article ${id}: ${copies ?? 'no'} copies for ${place}` };
  }

  @Post('renumber')
  @Roles('ADMIN')
  @HttpCode(200)
  renumber() {
    return { message: 'The articles are renumbered' };
  }
}

@Module({})
class ServiceModule {}

export interface Service {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param driver better-sqlite3
 * @param user becomes an administrator
 */
export async function startService(
  driver: unknown,
  user: { readonly email: string; readonly password: string },
): Promise<Service> {
  const database = { database: ':memory:', autoLoadEntities: true, synchronize: true } as const;
  const imports = [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', driver, ...database }),
    AuthModule.forRoot({
      userClass: Editor,
      loginMethod: LoginMethod.EMAIL,
      jwtSecret: 'a secret of this service with 40 letters',
      plugins: [sessions(), administration(), waysIn()],
    }),
    CrudModule.forFeature(ArticlesController, {
      entity: Tag,
      endpoint: '/api/tags',
      enablePagination: true,
      enableSearch: true,
      searchableFields: ['name'],
      filterableFields: ['id', 'name'],
      sortableFields: ['id', 'name'],
    }),
    CrudModule.forFeature(
      { entity: StockLevel, endpoint: '/api/stock-levels', enablePagination: true },
      { entity: Section, endpoint: '/api/sections', enablePagination: true },
    ),
  ];
  const app = await NestFactory.create({ module: ServiceModule, imports }, { logger: ['error'] });
  const config = new DocumentBuilder().setTitle('Articles').setVersion('1.0').setOpenAPIVersion('3.1.0').build();
  const document = () => addAccess(SwaggerModule.createDocument(app, config), app);
  const hints = { articles: { currency: { price: 'EUR' } }, tags: { label: 'code' } };
  serveDocuments(app, { '/admin/resources.json': () => describeService(document(), '/api', hints) });
  await app.listen(0, '127.0.0.1');
  await app.get(UserAccounts).ensure({ ...user, role: 'ADMIN' });
  const manager = app.get(DataSource).manager;
  const tags = Array.from({ length: 5_000 }, (_, index) => ({ name: `Tag ${index + 1}`, code: `T-${index + 1}` }));
  await manager.insert(Tag, tags);
  await manager.insert(Section, [{ name: 'Sport' }, { name: 'Culture' }]);
  await manager.insert(StockLevel, [{ carrier: null, counts: null }]);
  await manager.save(Article, [
    { title: 'First', price: 5.25, featured: true, state: 'draft', tags: [{ id: 1 }, { id: 2 }], section: { id: 1 } },
    { title: 'Second', price: 9.5, featured: null, tags: [], section: { id: 2 } },
    { title: 'Third', price: null, featured: false, tags: [] },
  ]);
  const { port } = new URL(await app.getUrl());
  const close = async (): Promise<void> => {
    await app.close();
    rmSync(folder, { recursive: true });
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
