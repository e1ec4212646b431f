/** Columns without a time zone, in processes of several zones: what would be stored or answered hours off is a startup warning. */
import { join } from 'node:path';
import { startChild } from '../child-process.js';
import { compile, type Compiled, REPOSITORY } from '../compiled.js';
import { createDatabase, DATABASES, type TestDatabase } from '../harness/databases.js';

/** A program of its own, because TZ applies to a whole process. */
const PROGRAM = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

const { type, url, zoned, ...options } = JSON.parse(process.argv[2]);

@Entity()
class Event {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: zoned ? 'timestamptz' : 'timestamp', nullable: true }) at!: Date;
  @CreateDateColumn(zoned ? { type: 'timestamptz' } : {}) createdAt!: Date;
}

@Entity()
class Plain {
  @PrimaryGeneratedColumn() id!: number;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type, url, autoLoadEntities: true, synchronize: true, ...options }),
    CrudModule.forFeature({ entity: Event, endpoint: '/events', maxListSize: 10 }, { entity: Plain, endpoint: '/plain', maxListSize: 10 }),
  ],
})
class App {}

const warnings: string[] = [];
const logger = { log() {}, error: console.error, warn: (text: string) => void warnings.push(text), debug() {}, verbose() {} };
const app = await NestFactory.create(App, { logger });
await app.listen(0, '127.0.0.1');
const url0 = (await app.getUrl()) + '/events';
const before = Date.now();
const headers = { 'content-type': 'application/json' };
const { data } = await (await fetch(url0, { method: 'POST', headers, body: JSON.stringify({ at: '2026-11-01T06:30:00.000Z' }) })).json();
await app.close();
const hoursOff = Math.round((Date.parse(data.createdAt) - before) / 3_600_000);
console.log(JSON.stringify({ warnings: warnings.filter((text) => text.startsWith('Moments')), at: data.at, hoursOff }));
`;

const SERVERS = DATABASES.filter((database) => database !== 'sqlite');

describe.skipIf(SERVERS.length === 0)('time zones', () => {
  let compiled: Compiled;
  beforeAll(async () => {
    compiled = await compile([], { 'test/exact/in-zone.ts': PROGRAM });
  });
  afterAll(() => compiled.remove());

  describe.each(SERVERS)('on %s', (name) => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await createDatabase(name);
    });
    afterEach(() => database.drop());

    async function startIn(TZ: string, options: object = {}) {
      const program = join(compiled.directory, 'test', 'exact', 'in-zone.js');
      const { type, url } = database.options as { type: string; url: string };
      const given = JSON.stringify({ type, url, ...options });
      const ended = await startChild(process.execPath, [program, given], { cwd: REPOSITORY, env: { TZ } }).ended;
      if (ended.code !== 0) throw new Error(ended.stderr);
      return JSON.parse(ended.stdout) as { warnings: string[]; at: string; hoursOff: number };
    }

    it('[4.6] one warning names the columns that lose the repeated hour, one those that the database fills', async () => {
      const { warnings, at, hoursOff } = await startIn('America/New_York');
      expect(at).toBe('2026-11-01T05:30:00.000Z');
      expect(warnings).toEqual([
        expect.stringMatching(
          /^Moments without a time zone: Event\.at, Event\.createdAt\. The zone of the process repeats/,
        ),
        expect.stringMatching(
          /^Moments that the database sets, hours off: Event\.createdAt\. The zone of the database is UTC\+00:00, that of the process is UTC-0[45]:00\. Set /,
        ),
      ]);
      expect(hoursOff).toBeGreaterThanOrEqual(4);
    });

    it('[4.6] a zone without daylight saving has the second warning only', async () => {
      const { warnings, at, hoursOff } = await startIn('Asia/Kolkata');
      expect(at).toBe('2026-11-01T06:30:00.000Z');
      expect(warnings).toEqual([
        expect.stringMatching(/^Moments that the database sets, .* the process is UTC\+05:30\. /),
      ]);
      expect(Math.abs(hoursOff)).toBeGreaterThanOrEqual(5);
    });

    it('[4.6] nothing is said in UTC, nor where the columns or the driver have a zone', async () => {
      const right = { warnings: [], at: '2026-11-01T06:30:00.000Z', hoursOff: 0 };
      expect(await startIn('UTC')).toEqual(right);
      expect(await startIn('America/New_York', name === 'postgres' ? { zoned: true } : { timezone: 'Z' })).toEqual(
        right,
      );
    });
  });
});
