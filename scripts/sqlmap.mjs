// Runs sqlmap against generated endpoints on SQLite, and on each server whose variable is set (TEST_POSTGRES_URL,
// TEST_MYSQL_URL). Exits 1 when it finds an injection, or does not find the one that is there on purpose. Needs sqlmap
// and a build.
import 'reflect-metadata';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Dependencies, Get, Module, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import { CrudModule } from '../dist/index.js';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';

const SERVERS = { postgres: process.env['TEST_POSTGRES_URL'], mariadb: process.env['TEST_MYSQL_URL'] };
const driver = createRequire(import.meta.url)(SQLITE_PACKAGE);
/** `*` marks what sqlmap changes. */
const TARGETS = [
  [
    'list',
    'items?filter[name]=Ann*&filter[size][in]=1,2*&sort=-size,name*&fields=id,name,size*&include=parent*&page=1*',
  ],
  ['names', 'items?filter[name*]=Ann&filter[name][icontains*]=n&filter[or][0*][size][gte]=1'],
  ['cursor', 'items?pagination=cursor*&size=1*&sort=name&after=%AFTER%*'],
  ['search', 'items/search?q=n*&name=Ann*'],
  ['count', 'items/count?filter[parent.name]=Ann*&filter[name][startsWith]=A*'],
  ['aggregate', 'items/aggregate?sum=size*&groupBy=name*&filter[size][between]=0,5*'],
  ['export', 'items/export?format=csv*&sort=name*&filter[name][contains]=n*'],
  ['path', 'items/1*'],
];
const INJECTABLE = ['on purpose', 'unsafe?name=Ann*'];

const scratch = mkdtempSync(join(tmpdir(), 'declarest-sqlmap-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
let failures = 0;
for (const database of ['sqlite', 'postgres', 'mariadb']) {
  if (database !== 'sqlite' && !SERVERS[database]) {
    console.log(`${database}: left out, its variable is not set`);
    continue;
  }
  const { options, drop } = await createDatabase(database);
  const app = await start(options);
  const url = await app.getUrl();
  const { metadata } = await (await fetch(`${url}/items?pagination=cursor&size=1&sort=name`)).json();
  for (const [name, path] of [...TARGETS, INJECTABLE]) {
    const began = Date.now();
    const target = path.replace('%AFTER%', metadata.pagination.next);
    const found = await examine(`${url}/${target}`, database);
    const isExpected = found.length > 0 === (name === INJECTABLE[0]);
    if (!isExpected) failures += 1;
    const seconds = Math.round((Date.now() - began) / 1000);
    console.log(
      `${isExpected ? 'ok  ' : 'FAIL'} ${database} ${name} (${seconds} s): ${found.join('; ') || 'nothing found'}`,
    );
  }
  await app.close();
  await drop();
}
process.exitCode = failures > 0 ? 1 : 0;

/** @returns the parameters that sqlmap calls injectable */
async function examine(url, database) {
  const dbms = { sqlite: 'SQLite', postgres: 'PostgreSQL', mariadb: 'MySQL' }[database];
  const options = [
    '--batch',
    '--level=2',
    '--risk=1',
    '--threads=4',
    '--time-sec=2',
    '--disable-coloring',
    '--skip-waf',
  ];
  const output = await new Promise((resolve, reject) => {
    const further = [
      '--ignore-code=400,404',
      '--flush-session',
      `--dbms=${dbms}`,
      `--output-dir=${join(scratch, randomBytes(4).toString('hex'))}`,
    ];
    execFile('sqlmap', ['-u', url, ...options, ...further], { maxBuffer: 2 ** 26 }, (error, stdout) =>
      error && stdout === '' ? reject(error) : resolve(stdout),
    );
  });
  const found = [...output.matchAll(/^Parameter: (.+)$/gm)].map(([, parameter]) => parameter);
  if (found.length === 0 && !output.includes('all tested parameters do not appear to be injectable'))
    throw new Error(`sqlmap did not test ${url}:\n${output}`);
  return found;
}

async function start(options) {
  // oxlint-disable-next-line typescript/no-extraneous-class -- plain JavaScript has no decorators: they follow
  class Item {}
  Entity('item')(Item);
  PrimaryGeneratedColumn()(Item.prototype, 'id');
  Column({ type: 'varchar', length: 40 })(Item.prototype, 'name');
  Column({ type: 'int' })(Item.prototype, 'size');
  ManyToOne(() => Item, 'children', { nullable: true })(Item.prototype, 'parent');
  OneToMany(() => Item, 'parent')(Item.prototype, 'children');

  class Unsafe {
    constructor(dataSource) {
      this.dataSource = dataSource;
    }
    find(name) {
      return this.dataSource.query(`SELECT * FROM item WHERE name = '${name}'`);
    }
  }
  Controller('unsafe')(Unsafe);
  Dependencies(DataSource)(Unsafe);
  Query('name')(Unsafe.prototype, 'find', 0);
  Get()(Unsafe.prototype, 'find', Object.getOwnPropertyDescriptor(Unsafe.prototype, 'find'));

  // oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest
  class App {}
  Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, entities: [Item], synchronize: true, retryAttempts: 0 }),
      CrudModule.forFeature({
        entity: Item,
        endpoint: '/items',
        enablePagination: 'both',
        enableSearch: true,
        enableCount: true,
        enableExport: true,
        searchableFields: ['name'],
        filterableFields: ['name', 'size', 'parent.name'],
        sortableFields: ['name', 'size'],
        aggregatableFields: ['name', 'size'],
        includableRelations: ['parent'],
      }),
    ],
    controllers: [Unsafe],
  })(App);
  const app = await NestFactory.create(App, { logger: false });
  await app.listen(0, '127.0.0.1');
  const items = app.get(DataSource).getRepository(Item);
  await items.insert([
    { name: 'Ann', size: 1 },
    { name: 'Ben', size: 2, parent: { id: 1 } },
    { name: 'Cid', size: 3 },
  ]);
  return app;
}

async function createDatabase(database) {
  if (database === 'sqlite')
    return { options: { type: 'better-sqlite3', driver, database: ':memory:' }, drop: async () => undefined };
  const name = `declarest_sqlmap_${process.pid}`;
  const server = new URL(SERVERS[database]);
  const run = async (sql) => {
    const dataSource = await new DataSource({ type: database, url: server.href }).initialize();
    await dataSource.query(sql);
    await dataSource.destroy();
  };
  await run(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { options: { type: database, url: url.href }, drop: () => run(`DROP DATABASE ${name}`) };
}
