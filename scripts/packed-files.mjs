// Packs declarest and declarest-files, installs them in an empty folder as a service does, checks the types of a file that uses
// them, and stores, scales and removes an image.
//
//     npm run test:packages
import assert from 'node:assert/strict';

import { emptyFolder, installAndCompile, packDeclarest, packWorkspace, run } from './packed.mjs';

const OTHERS = [
  '@nestjs/platform-express@12',
  '@aws-sdk/client-s3@3',
  '@aws-sdk/lib-storage@3',
  'better-sqlite3@13',
  'sharp@0.35',
  '@types/node@20',
];

const USE = `
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { diskStorage, FileColumn, FileCrudController, type StoredFile } from 'declarest-files';
import { s3Storage } from 'declarest-files/s3';
import sharp from 'sharp';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
class Ticket {
  @PrimaryGeneratedColumn() id!: number;
  @FileColumn({ types: ['image/png'], maxBytes: 5_000 }) photo!: StoredFile | null;
}

class TicketsController extends FileCrudController({ entity: Ticket, endpoint: '/tickets' }, diskStorage('uploads')) {}

const database = { type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true } as const;

@Module({ imports: [TypeOrmModule.forRoot(database), CrudModule.forFeature(TicketsController)] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();
const send = (method: string, path: string, body?: Uint8Array<ArrayBuffer> | string, type = 'application/json') =>
  fetch(url + path, { method, ...(body !== undefined && { body, headers: { 'content-type': type } }) });
await send('POST', '/tickets', '{}');
const image = await sharp({ create: { width: 40, height: 20, channels: 3, background: 'red' } }).png().toBuffer();
const { status } = await send('PUT', '/tickets/1/photo', new Uint8Array(image), 'image/png');
const scaled = await sharp(await (await send('GET', '/tickets/1/photo?width=10')).arrayBuffer()).metadata();
await send('DELETE', '/tickets/1');
console.log(JSON.stringify([status, scaled.width, readdirSync('uploads/ticket/photo'), typeof s3Storage]));
await app.close();
`;

const folder = emptyFolder();
const tarballs = [packDeclarest(folder), packWorkspace('declarest-files', folder)];
installAndCompile(folder, [...OTHERS, ...tarballs], USE, {
  // The peer range of TypeORM ends at better-sqlite3 12.
  settings: { overrides: { typeorm: { 'better-sqlite3': '13' } } },
  compilerOptions: { types: ['node'], experimentalDecorators: true, emitDecoratorMetadata: true },
});
const used = JSON.parse(run(process.execPath, ['use.js'], folder));
assert.deepEqual(used, [200, 10, [], 'function']);
console.log('declarest-files works as installed from its tarball.');
