/** The parts of a run, one after the other. */
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { copyOfData, makeData, reserveRows } from './data.mjs';
import { CONNECTIONS } from './load.mjs';
import { measureLogin } from './login.mjs';
import { machine } from './machine.mjs';
import { OPERATIONS, POSTGRES_OPERATIONS } from './operations.mjs';
import { preparePostgres } from './postgres-data.mjs';
import { installedPackage } from './prepare.mjs';
import { loginTable, memoryTable, rulesTable, startTable, throughputTable } from './report.mjs';
import { measureRules } from './rules.mjs';
import { startServer } from './server-process.mjs';
import { measureStart } from './start.mjs';
import { measureOperation } from './throughput.mjs';

const PACKAGES = ['declarest', '@nestjs/core', 'typeorm', 'better-sqlite3', 'pg', 'express', 'fastify', '@nestjs/jwt'];
const PEERS = ['@dataui/crud', '@feathersjs/feathers', 'knex'];

export async function measureAll(contestants, options) {
  makeData();
  const { rounds, seconds } = options;
  const results = {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    versions: versions(),
    rounds,
    seconds,
  };
  const isAsked = (name) => options.only?.includes(name) ?? true;
  const several = contestants.filter(({ role }) => role === 'hand-written' || role === 'declarest');
  const told = (title, rows, table) => {
    console.log(`\n${title}\n\n${table(rows)}`);
    return rows;
  };

  Object.assign(results, { connections: CONNECTIONS, ...(await onSqlite(contestants, isAsked, options)) });
  const postgres = POSTGRES_OPERATIONS.filter((name) => isAsked(`postgres:${name}`));
  if (postgres.length > 0) results.operations.push(...(await onPostgres(contestants, postgres, results, options)));
  if (isAsked('rules')) {
    const ruled = contestants.filter(({ role }) => role !== 'peer' && role !== 'prototype');
    const rows = await measureRules(ruled, { name: 'protected', ...OPERATIONS.protected }, copyOfData, options);
    results.rules = told('Rules: findById with a token', rows, rulesTable);
  }
  if (isAsked('start')) results.start = told('Start', await measureStart(several, copyOfData, options), startTable);
  if (isAsked('login'))
    results.login = told('Reads beside eight logins', await measureLogin(several, copyOfData, options), loginTable);
  return results;
}

async function onSqlite(contestants, isAsked, options) {
  const names = Object.keys(OPERATIONS).filter(isAsked);
  if (names.length === 0) return { operations: [] };
  const servers = await startAll(contestants, ({ name }) => {
    const file = copyOfData(name);
    return { database: file, reserve: (count) => count > 0 && reserveRows(file, count) };
  });
  await setTimeout(1_000);
  const idle = servers.map(({ rss }) => rss());
  const operations = await measureEach(servers, names, '', options);
  const memory = servers.flatMap(({ contestant, rss }, index) =>
    contestant.operations ? [] : { contestant: contestant.name, idle: idle[index], loaded: rss() },
  );
  console.log(`\nMemory\n\n${memoryTable(memory)}`);
  await Promise.all(servers.map(({ stop }) => stop()));
  return { operations, memory };
}

async function onPostgres(contestants, names, { versions: known }, options) {
  const url = process.env.TEST_POSTGRES_URL;
  if (!url) {
    console.log('\nLeft out: PostgreSQL, TEST_POSTGRES_URL is not set');
    return [];
  }
  const { url: database, version } = await preparePostgres(url);
  known.PostgreSQL = version;
  const able = contestants.filter(({ postgres }) => postgres);
  const servers = await startAll(able, () => ({ database }));
  const operations = await measureEach(servers, names, 'PostgreSQL, 1,000,000 rows: ', options);
  await Promise.all(servers.map(({ stop }) => stop()));
  return operations;
}

async function startAll(contestants, dataOf) {
  const servers = [];
  for (const contestant of contestants) {
    const { database, ...rest } = dataOf(contestant);
    servers.push({ ...(await startServer(contestant, { BENCH_DATABASE: database })), ...rest });
  }
  return servers;
}

async function measureEach(servers, names, prefix, options) {
  const operations = [];
  for (const name of names) {
    const operation = { name, ...OPERATIONS[name], title: prefix + OPERATIONS[name].title };
    const rows = await measureOperation(servers, operation, options);
    operations.push({ title: operation.title, rows });
    console.log(`\n${operation.title}\n\n${throughputTable(rows)}`);
  }
  return operations;
}

function versions() {
  const database = new Database(':memory:');
  const sqlite = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  const packages = [...PACKAGES, ...PEERS].map((name) => [name, installedPackage(name).version]);
  return { Node: process.versions.node, SQLite: sqlite, ...Object.fromEntries(packages) };
}
