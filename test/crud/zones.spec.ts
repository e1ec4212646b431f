import { join } from 'node:path';
import { type Ended, startChild } from '../child-process.js';
import { compile, type Compiled, REPOSITORY } from '../compiled.js';

/** A program of its own, because TZ applies to a whole process. */
const PROGRAM = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
class Event {
  @PrimaryGeneratedColumn() id!: number;
  @Column('datetime') at!: Date;
  @Column('date') day!: string;
  @Column('time') time!: string;
  @CreateDateColumn() created!: Date;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true }),
    CrudModule.forFeature({ entity: Event, endpoint: '/events', maxListSize: 10 }),
  ],
})
class App {}

const send = async (url: string, method: string, body: object) =>
  (await fetch(url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
const reports: Record<string, object> = {};
for (const zone of process.argv.slice(2)) {
  process.env['TZ'] = zone;
  const app = await NestFactory.create(App, { logger: false });
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()) + '/events';
  const answers: object[] = [];
  for (const at of ['2026-01-31T23:30:15.123Z', '2026-03-29T01:30:00.000Z', '2026-03-08T07:30:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']) {
    const made = (await send(url, 'POST', { at, day: at.slice(0, 10), time: '02:30:00' })) as { data: { id: number } };
    const again = await send(url + '/' + made.data.id, 'PUT', made.data);
    answers.push({ at, made, again, listed: await (await fetch(url + '/' + made.data.id)).json() });
  }
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  const local = now.getFullYear() + '-' + two(now.getMonth() + 1) + '-' + two(now.getDate()) + 'T' + two(now.getHours()) + ':' + two(now.getMinutes());
  reports[zone] = { local, now: now.toISOString(), answers };
  await app.close();
}
console.log(JSON.stringify(reports));
`;

const ZONES = ['America/St_Johns', 'Europe/Berlin', 'Pacific/Kiritimati'];

describe('time zones', () => {
  let compiled: Compiled;
  let ended: Ended;
  beforeAll(async () => {
    compiled = await compile([], { 'test/crud/in-zone.ts': PROGRAM });
    const program = join(compiled.directory, 'test', 'crud', 'in-zone.js');
    ended = await startChild(process.execPath, [program, ...ZONES], { cwd: REPOSITORY }).ended;
  });
  afterAll(() => compiled.remove());

  it.each(ZONES)(
    '[4.3] [4.6] sends the local timestamp, and reads dates and date-times back as written, in %s',
    (zone) => {
      expect(ended.stderr).toBe('');
      const { local, now, answers } = JSON.parse(ended.stdout)[zone];
      expect(local).not.toBe(now.slice(0, 16));
      expect(answers).toHaveLength(5);
      for (const { at, made, again, listed } of answers) {
        // The minute may change between the answer and the clock reading.
        const behind = Date.parse(`${local}:00Z`) - Date.parse(`${made.timestamp}Z`);
        expect(Math.abs(behind)).toBeLessThan(120_000);
        expect(made.data).toMatchObject({ at, day: at.slice(0, 10), time: '02:30:00' });
        expect(Math.abs(Date.parse(made.data.created) - Date.parse(now))).toBeLessThan(60_000);
        expect([again.success, again.data]).toEqual([true, made.data]);
        expect(listed.data).toEqual(made.data);
      }
    },
  );
});
