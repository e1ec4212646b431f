/** Uploads whose temporary file cannot be written, in a process of which no file may have more than 64 kB. */
import { join } from 'node:path';
import { startChild } from '../child-process.js';
import { type Compiled, compile } from '../compiled.js';
import { PLATFORMS } from '../harness/platforms.js';
import { failure } from './service.js';

const APPLICATION = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudController, CrudModule } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity() class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true }),
    CrudModule.forFeature(CrudController({ entity: Note, endpoint: '/notes', enableImport: true, maxListSize: 9 })),
  ],
})
class AppModule {}

const adapter = process.env['PLATFORM'] === 'fastify' ? [new FastifyAdapter()] : [];
const app = await NestFactory.create(AppModule, ...adapter, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
`;

let compiled: Compiled;
beforeAll(async () => {
  compiled = await compile([], { 'apps/main.ts': APPLICATION });
});
afterAll(() => compiled.remove());

describe.each(PLATFORMS)('on %s', (platform) => {
  it('answers 503 while a large file is sent, and logs the cause once', async () => {
    // Without its signal, the limit is an error of the write, as a full disk is.
    const line = `trap '' XFSZ; ulimit -f 128; exec "$0" "$1"`;
    const child = startChild('sh', ['-c', line, process.execPath, join(compiled.directory, 'apps/main.js')], {
      cwd: compiled.directory,
      env: { PLATFORM: platform },
    });
    const [url] = await child.says(/http:\S+/);
    const send = (...lines: Buffer[]): Promise<Response> =>
      fetch(`${url}/notes/import`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: Buffer.concat(lines),
      });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await send(Buffer.from('{"text":"large"}'), Buffer.alloc(2 ** 24, '\n'));
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await answer.json()).toEqual(failure('The server is busy, try again'));
    }
    expect(await (await send(Buffer.from('{"text":"small"}'))).text()).toContain('"id":1');
    child.signal('SIGKILL');
    const { stdout, stderr } = await child.ended;
    expect([stdout, stderr].join('\n').match(/EFBIG|ERROR/g)).toEqual(['ERROR', 'EFBIG']);
  });
});
