// What logins do to everybody else: the latency of GET by id alone, and while eight users log in without a pause.
//
//     npm run bench:login
//
// Against the compiled package, on Express, over real sockets; hashes cost 12 rounds, as they do by default. The goal is
// a median under three times of that alone. Nothing is asserted: the numbers depend on the machine.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AuthModule, AuthUser, CrudModule } from '../dist/index.js';

const LOGINS = 8;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const ROUNDS = 12;
const GOAL = 3;

class User extends AuthUser {}
Entity()(User);

class Product {
  id;
  name;
}
Entity()(Product);
PrimaryGeneratedColumn()(Product.prototype, 'id');
Column('text')(Product.prototype, 'name');

const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-'));

// oxlint-disable-next-line typescript/no-extraneous-class -- decorated below: plain JavaScript has no decorators yet
class ShopModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: join(folder, 'shop.db'),
      enableWAL: true,
      autoLoadEntities: true,
      synchronize: true,
    }),
    AuthModule.forRoot({
      userClass: User,
      jwtSecret: 'a-benchmark-secret-of-more-than-32-bytes',
      bcryptRounds: ROUNDS,
      defaultAccess: 'public',
    }),
    CrudModule.forFeature({ entity: Product, endpoint: '/api/products', enablePagination: true }),
  ],
})(ShopModule);

const app = await NestFactory.create(ShopModule, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address();
const agent = new Agent({ keepAlive: true });

try {
  const credentials = { email: 'ann@example.com', password: 'correct horse battery' };
  await expectStatus(201, 'POST', '/api/auth/register', credentials);
  await expectStatus(201, 'POST', '/api/products', { name: 'Lamp' });

  await read(1);
  const alone = summary(await read(SECONDS));

  const load = { isOver: false };
  let logins = 0;
  const users = Array.from({ length: LOGINS }, async () => {
    while (!load.isOver) {
      await expectStatus(200, 'POST', '/api/auth/login', credentials);
      logins += 1;
    }
  });
  const beside = summary(await read(SECONDS));
  load.isOver = true;
  await Promise.all(users);

  console.log(
    `GET by id, one after the other, for ${SECONDS} s each; ${availableParallelism()} processors, Node ${process.version}`,
  );
  console.table({
    alone: row(alone),
    [`beside ${LOGINS} logins`]: row(beside),
    ratio: row({
      median: beside.median / alone.median,
      p99: beside.p99 / alone.p99,
      requests: beside.requests / alone.requests,
    }),
  });
  console.log(`${logins} logins of ${ROUNDS} rounds, ${(logins / SECONDS).toFixed(1)} a second`);
  const ratio = beside.median / alone.median;
  console.log(`median beside logins / median alone: ${ratio.toFixed(2)} (goal: under ${GOAL})`);
} finally {
  agent.destroy();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Milliseconds of every read, for so many seconds. */
async function read(seconds) {
  const times = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const start = performance.now();
    await expectStatus(200, 'GET', '/api/products/1');
    times.push(performance.now() - start);
  }
  return times;
}

function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { median: at(0.5), p99: at(0.99), requests: sorted.length };
}

function row({ median, p99, requests }) {
  return {
    'median (ms)': Number(median.toFixed(3)),
    'p99 (ms)': Number(p99.toFixed(3)),
    requests: Number(requests.toFixed(2)),
  };
}

function expectStatus(expected, method, path, json) {
  const body = json && JSON.stringify(json);
  const headers = body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {};
  return new Promise((resolve, reject) => {
    const outgoing = send({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === expected) resolve();
        else reject(new Error(`${method} ${path} answered ${response.statusCode}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
