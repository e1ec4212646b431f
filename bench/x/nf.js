import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Controller, Get, Param, Module } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import Database from 'better-sqlite3';
const db = new Database(process.env.BENCH_DATABASE);
const st = db.prepare('select * from products where id=?');
class C {
  async get(id) {
    const r = st.get(Number(id));
    return {
      success: true,
      message: 'Product found',
      data: { ...r, active: !!r.active },
      timestamp: new Date().toISOString(),
    };
  }
}
Param('id')(C.prototype, 'get', 0);
Get(':id')(C.prototype, 'get', Object.getOwnPropertyDescriptor(C.prototype, 'get'));
Controller('/api/products')(C);
class M {}
Module({ controllers: [C] })(M);
let ad;
if (process.env.P === 'own') {
  const { ExpressAdapter } = await import('declarest/express');
  ad = new ExpressAdapter();
} else ad = new FastifyAdapter();
const app = await NestFactory.create(M, ad, { logger: false });
await app.listen(0);
process.send({ port: app.getHttpServer().address().port });
