#!/usr/bin/env bash
# @kavo/core, @kavo/nest and @kavo/typeorm 0.23.4 with Nest 12.5.1, TypeORM 1.1.1 and sql.js 1.14.1 on Node 24.
#
# Expected: the same problem details on both platforms of Nest, as lists are the same there.
# Seen: on Express, GET of an unknown id is 404 with problem details. On Fastify it is 500, `response.status(...).type(...)
# .json is not a function`: the exception filter calls a method that only Express's response has, so each failure is 500.
# The benchmark therefore runs Kavo on Express (bench/README.md).
#
# Fails if both platforms answer 404.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @kavo/core@0.23.4 @kavo/nest@0.23.4 @kavo/typeorm@0.23.4 \
  @nestjs/common@12.5.1 @nestjs/core@12.5.1 @nestjs/platform-express@12.5.1 @nestjs/platform-fastify@12.5.0 \
  @nestjs/typeorm@12.0.2 @nestjs/swagger@12.0.2 class-validator@0.15.1 class-transformer@0.5.1 typeorm@1.1.1 \
  sql.js@1.14.1 reflect-metadata@0.2.2 rxjs@7.8.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Kavo, KavoModule } from '@kavo/nest';
import { createInfrastructure } from '@kavo/typeorm';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

class Mark {}
PrimaryGeneratedColumn()(Mark.prototype, 'id');
Column('text')(Mark.prototype, 'text');
Entity()(Mark);
class MarksController {}
Controller('marks')(MarksController);
Kavo(Mark)(MarksController);
class AppModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'sqljs', entities: [Mark], synchronize: true }),
    KavoModule.forRootAsync({
      inject: [DataSource],
      useFactory: (source) => ({ infrastructure: createInfrastructure(source) }),
    }),
  ],
  controllers: [MarksController],
})(AppModule);

const lines = [];
for (const adapter of [new ExpressAdapter(), new FastifyAdapter()]) {
  const app = await NestFactory.create(AppModule, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  const [list, unknown] = await Promise.all(
    ['marks', 'marks/7'].map(async (path) => (await fetch(`http://127.0.0.1:${app.getHttpServer().address().port}/${path}`)).status),
  );
  lines.push(`${adapter.constructor.name}: list ${list}, unknown id ${unknown}`);
  await app.close();
}
console.log(lines.join('\n'));
const seen = ['ExpressAdapter: list 200, unknown id 404', 'FastifyAdapter: list 200, unknown id 500'];
process.exit(JSON.stringify(lines) === JSON.stringify(seen) ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
