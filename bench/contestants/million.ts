/** declarest over a large table of PostgreSQL, for million.mjs. */
import 'reflect-metadata';
import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { serve } from './serve.js';

@Entity('entries')
class Entry {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  name!: string;

  @Column('integer')
  amount!: number;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env['BENCH_POSTGRES_URL'] ?? '',
      autoLoadEntities: true,
      synchronize: true,
    }),
    CrudModule.forFeature({
      entity: Entry,
      endpoint: '/api/entries',
      enablePagination: 'both',
      enableCount: true,
      enableExport: true,
      enableImport: true,
      enableSearch: true,
      searchableFields: ['name'],
      searchIndex: process.env['BENCH_SEARCH_INDEX'] === '1',
    }),
  ],
})
class AppModule {}

await serve(await NestFactory.create<INestApplication>(AppModule, new FastifyAdapter(), { logger: ['error'] }));
