/** An `ErrorObserver` with Sentry's Nest SDK, in a process of its own, as the SDK requires. */
import { type Compiled, compile } from '../compiled.js';
import { startChild } from '../child-process.js';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';

/** Sentry must be initialised before every other import. */
const INSTRUMENT = `
import * as Sentry from '@sentry/nestjs';

export const sent = [];
Sentry.init({
  dsn: 'https://key@sentry.example/1',
  transport: (options) =>
    Sentry.createTransport(options, async ({ body }) => {
      const [, header, payload] = String(body).split('\\n');
      if (JSON.parse(header).type === 'event') sent.push(JSON.parse(payload));
      return { statusCode: 200 };
    }),
});
`;

const APPLICATION = `
import 'reflect-metadata';
import { Controller, Get, Injectable, InternalServerErrorException, Module, NotFoundException } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import * as Sentry from '@sentry/nestjs';
import { SentryGlobalFilter, SentryModule } from '@sentry/nestjs/setup';
import { AuthModule, AuthUser, CrudController, CrudModule, ErrorObserver, LoginMethod } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { sent } from './instrument.js';

@Entity() class User extends AuthUser {}

@Entity() class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
}

class NotesController extends CrudController({ entity: Note, endpoint: '/notes', enableBatch: true, maxListSize: 9 }) {
  beforeCreate({ text }) {
    if (text === 'missing') throw new NotFoundException('expected');
    if (text.startsWith('hook')) throw new Error(text);
  }
  afterCreate({ text }) {
    if (text === 'after') throw new Error('after the commit');
  }
}

@Controller() class Own {
  @Get('own') own() {
    throw new Error('own controller');
  }
  @Get('sent') async sent() {
    await Sentry.flush(2000);
    return sent.splice(0).map(({ exception, transaction, request }) => [exception.values.at(-1).value, request?.url]);
  }
}

@Injectable() class Tracker extends ErrorObserver {
  onUnexpectedError(error: unknown) {
    Sentry.captureException(error);
  }
}

@Module({
  imports: [
    SentryModule.forRoot(),
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({ userClass: User, jwtSecret: 'x'.repeat(40), bcryptRounds: 4 }),
    CrudModule.forFeature(NotesController),
  ],
  controllers: [Own],
  providers: [{ provide: APP_FILTER, useClass: SentryGlobalFilter }],
})
class AppModule {}

async function start(providers, ...adapter) {
  const app = await NestFactory.create({ module: AppModule, providers }, ...adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  await app.get(DataSource).query('DROP TABLE user');
  return app.getUrl();
}
console.log(await start([Tracker]), await start([Tracker], new FastifyAdapter()), await start([]), 'are up');
`;

let compiled: Compiled;
let express: string;
let fastify: string;
let withoutObserver: string;
beforeAll(async () => {
  compiled = await compile([], { 'apps/instrument.ts': INSTRUMENT, 'apps/main.ts': APPLICATION });
  const args = ['--import', './apps/instrument.js', 'apps/main.js'];
  const child = startChild(process.execPath, args, { cwd: compiled.directory });
  const [printed] = await child.says(/.+ are up/);
  [express = '', fastify = '', withoutObserver = ''] = printed.split(' ');
});
afterAll(() => compiled.remove());

interface Told {
  readonly error: string;
  readonly url: string;
}

/** @returns the statuses of failing requests, and what Sentry was sent after each */
async function failuresOf(base: string) {
  const results: [status: number, told: Told[]][] = [];
  const send = async (method: string, path: string, json?: unknown): Promise<void> => {
    const { status } = await request(base, method, path, json === undefined ? {} : { json });
    const told = (await request(base, 'GET', '/sent')).json as [string, string][];
    results.push([status, told.map(([error, url]) => ({ error, url: url.replace(base, '') }))]);
  };
  await send('GET', '/own');
  await send('POST', '/notes', { text: 'hook' });
  await send('POST', '/notes/batch?atomic=false', {
    items: [{ text: 'hook 1' }, { text: 'fine' }, { text: 'hook 2' }],
  });
  await send('POST', '/notes', { text: 'after' });
  await send('POST', '/notes', { text: 'missing' });
  await send('POST', '/api/auth/login', { email: 'ann@shop.example', password: 'correct horse' });
  return results;
}

describe.each(PLATFORMS)('Sentry on %s', (platform) => {
  it('[4.3] sees the unexpected errors of generated and account endpoints through an observer', async () => {
    const noTable = expect.stringContaining('no such table: user') as string;
    expect(await failuresOf(platform === 'express' ? express : fastify)).toEqual([
      [500, [{ error: 'own controller', url: '/own' }]],
      [500, [{ error: 'hook', url: '/notes' }]],
      [
        207,
        [
          { error: 'hook 1', url: '/notes/batch?atomic=false' },
          { error: 'hook 2', url: '/notes/batch?atomic=false' },
        ],
      ],
      [201, [{ error: 'after the commit', url: '/notes' }]],
      [404, []],
      [500, [{ error: noTable, url: '/api/auth/login' }]],
    ]);
  });
});

it('[4.3] Sentry’s global filter alone sees those of the application’s own controllers only', async () => {
  const results = await failuresOf(withoutObserver);
  expect(results.map(([status, told]) => [status, told.length])).toEqual([
    [500, 1],
    [500, 0],
    [207, 0],
    [201, 0],
    [404, 0],
    [500, 0],
  ]);
});
