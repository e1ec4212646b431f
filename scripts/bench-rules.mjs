// What rules cost: the throughput of one protected route with 10, 100 and 1,000 rules, and what 1,000 routes under 1,000
// rules take at boot.
//
//     npm run bench:rules
//
// Against the compiled package, on Express and on Fastify. Each application is a process of its own; all of them are asked
// in turn, for a short time each, round after round, so that what else the machine does falls on all alike. The client
// writes ready bytes to a few kept connections, so that the server is what is measured. The goals are a throughput within
// 5 % of that with 10 rules, and a second for the boot. Nothing is asserted: the numbers depend on the machine.
import 'reflect-metadata';
import { fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { AuthModule, AuthUser, SecurityConfig, UserRepository } from '../build/index.js';
import { shapesOf } from '../build/routing/route-shape.js';
import { ACCESS_BY_NAME } from '../build/security/access.js';
import { compileRouteAccess } from '../build/security/route-access.js';
import { refuseContradictions } from '../build/security/rules.js';
import { declaredRules } from '../build/security/security-config.js';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 60);
/** Processes for each number of rules: of two of the same, one may be a tenth faster for as long as it lives. */
const PROCESSES = 4;
const WARM_UP_MS = 1_000;
const SLICE_MS = 200;
const CONNECTIONS = 8;
const PLATFORMS = ['express', 'fastify'];
const RULES = [10, 100, 1_000];
const GOAL_PERCENT = 5;
const BOOT_ROUTES = 1_000;
const BOOT_RULES = 1_000;
const SECRET = 'a-benchmark-secret-of-more-than-32-bytes';

class User extends AuthUser {}

/** Nobody logs in here. */
class NoUsers extends UserRepository {}
Injectable()(NoUsers);

/** A child: says where it listens, then how much processor time it has used, whenever it is asked. */
async function serve(platform, rules) {
  const app = await boot(platform, ['/api/products/:id', '/api/orders/:id'], rulesFor(rules));
  process.on('message', () => process.send({ cpu: process.cpuUsage() }));
  process.send({ port: app.getHttpServer().address().port });
}

/** Half of the rules each tell one product apart from the others, so that a request must look at its path; the rest are for elsewhere. */
function rulesFor(count) {
  const pairs = Array.from({ length: (count - 2) / 2 }, (_, index) => index);
  return (config) => {
    config.requireAuth('/api/**');
    config.requireRole('ADMIN', 'GET /api/products/*');
    config.requireRole('OWNER', ...pairs.map((index) => `/api/products/special-${index}`));
    config.publicEndpoints(...pairs.map((index) => `/elsewhere-${index}/**`));
  };
}

async function boot(platform, paths, declare) {
  class Security extends SecurityConfig {
    configure() {
      declare(this);
    }
  }
  Injectable()(Security);
  // oxlint-disable-next-line typescript/no-extraneous-class -- decorated below: plain JavaScript has no decorators yet
  class BenchModule {}
  Module({
    imports: [AuthModule.forRoot({ userClass: User, repositoryClass: NoUsers, jwtSecret: SECRET })],
    controllers: [controllerOf(paths)],
    providers: [Security],
  })(BenchModule);
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(BenchModule, adapter, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  return app;
}

function controllerOf(paths) {
  // oxlint-disable-next-line typescript/no-extraneous-class -- decorated below
  class BenchController {}
  Controller()(BenchController);
  for (const [index, path] of paths.entries()) {
    const handler = { value: () => ({ ok: true }), configurable: true };
    Object.defineProperty(BenchController.prototype, `handler${index}`, handler);
    Get(path)(BenchController.prototype, `handler${index}`, handler);
  }
  return BenchController;
}

async function measure() {
  console.log(`${availableParallelism()} processors, Node ${process.version}`);
  measureResolving();
  await measureThroughput();
  for (const platform of PLATFORMS) await measureBoot(platform);
}

async function measureThroughput() {
  const servers = [];
  try {
    for (let process = 0; process < PROCESSES; process += 1)
      for (const platform of PLATFORMS) for (const rules of RULES) servers.push(await start(platform, rules));
    for (const { port } of servers) await load(port, WARM_UP_MS);
    const end = performance.now() + SECONDS * 1_000;
    let rounds = 0;
    while (performance.now() < end) {
      // Forwards and backwards in turn, so that no application always comes after the same one.
      await round(rounds % 2 === 0 ? servers : servers.toReversed());
      rounds += 1;
    }
    console.log(
      `GET /api/products/7 with a token, ${CONNECTIONS} connections, ${PROCESSES} processes, ${rounds} rounds of ${SLICE_MS} ms for each:`,
    );
    for (const platform of PLATFORMS)
      report(
        RULES.map((rules) => {
          const same = servers.filter((server) => server.platform === platform && server.rules === rules);
          return { platform, rules, slices: same.flatMap(({ slices }) => slices) };
        }),
      );
  } finally {
    for (const { child } of servers) child.kill();
  }
}

async function start(platform, rules) {
  const child = fork(import.meta.filename, [platform, rules]);
  const [{ port }] = await once(child, 'message');
  return { platform, rules, child, port, slices: [] };
}

async function round(servers) {
  for (const server of servers) {
    const before = await cpuOf(server);
    const since = performance.now();
    const requests = await load(server.port, SLICE_MS);
    const seconds = (performance.now() - since) / 1_000;
    server.slices.push({ throughput: requests / seconds, cpu: ((await cpuOf(server)) - before) / requests });
  }
}

/** Microseconds of processor time that the server has used. */
async function cpuOf({ child }) {
  child.send('cpu');
  const [{ cpu }] = await once(child, 'message');
  return cpu.user + cpu.system;
}

/** How many requests are answered in so many milliseconds. */
async function load(port, milliseconds) {
  const request = Buffer.from(
    `GET /api/products/7 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token('ADMIN')}\r\n\r\n`,
  );
  const end = performance.now() + milliseconds;
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => loadOne(port, request, end)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** One connection: as soon as an answer is complete, the next request. All answers are of one length. */
function loadOne(port, request, end) {
  return new Promise((resolve, reject) => {
    let answered = 0;
    let length = 0;
    let received = 0;
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setNoDelay();
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      if (length === 0) {
        if (!bytes.toString('latin1').startsWith('HTTP/1.1 200')) reject(new Error(bytes.toString('latin1')));
        length = bytes.length;
      }
      received += bytes.length;
      if (received < length) return;
      received = 0;
      answered += 1;
      if (performance.now() < end) socket.write(request);
      else socket.end(() => resolve(answered));
    });
  });
}

function report(servers) {
  const [least] = servers;
  const columns = servers.map(({ rules, slices }) => {
    // Of one round each, so that both saw the same machine.
    const ratio = median(slices.map(({ throughput }, index) => throughput / least.slices[index].throughput));
    const cpuRatio = median(slices.map(({ cpu }, index) => cpu / least.slices[index].cpu));
    return [
      `${least.platform}, ${rules} rules`,
      {
        'requests/s (median)': Math.round(median(slices.map(({ throughput }) => throughput))),
        'ratio to 10 rules': Number(ratio.toFixed(3)),
        'server µs/request (median)': Number(median(slices.map(({ cpu }) => cpu)).toFixed(1)),
        'its ratio': Number(cpuRatio.toFixed(3)),
        [`within ${GOAL_PERCENT} %`]: ratio >= 1 - GOAL_PERCENT / 100 ? 'yes' : 'no',
      },
    ];
  });
  console.table(Object.fromEntries(columns));
}

const bootPaths = Array.from({ length: BOOT_ROUTES }, (_, index) => `/api/resource-${index % 250}/${index}/:id`);

function bootRules(config) {
  for (let index = 0; index < BOOT_RULES; index += 4) {
    const path = `/api/resource-${index % 250}/${index}`;
    config.requireAuth(`${path}/**`);
    config.requireRole('ADMIN', `GET ${path}/*`);
    config.requireRole(['EDITOR', 'ADMIN'], `${path}/special`);
    config.publicEndpoints(`GET ${path}/open`);
  }
}

/** What the rules are resolved with, by itself: the patterns read, held against each other and against every route. */
function measureResolving() {
  class Security extends SecurityConfig {
    configure() {
      bootRules(this);
    }
  }
  const routes = bootPaths.map((path) => ({ method: 'GET', path, handler: () => {}, shapes: shapesOf(path) }));
  const runs = Array.from({ length: 5 }, () => {
    const [since, cpu] = [performance.now(), process.cpuUsage()];
    const security = new Security();
    security.configure();
    const rules = declaredRules(security);
    refuseContradictions(rules);
    compileRouteAccess(
      routes,
      { rules, fallback: ACCESS_BY_NAME.authenticated },
      { caseSensitive: false, ignoreTrailingSlash: true },
    );
    const { user, system } = process.cpuUsage(cpu);
    return { time: performance.now() - since, cpu: (user + system) / 1_000 };
  });
  const [first, best] = [runs[0], runs.toSorted((a, b) => a.time - b.time)[0]].map(
    ({ time, cpu }) => `${time.toFixed(0)} ms (${cpu.toFixed(0)} ms of processor time)`,
  );
  console.log(
    `${BOOT_ROUTES} routes under ${BOOT_RULES} rules resolve in ${first} the first time, ${best} at best ` +
      `(goal: under 1000)`,
  );
}

/** The whole boot with as good as no rules and with all of them. */
async function measureBoot(platform) {
  await timeOfBoot(platform, bootRules);
  const few = await timeOfBoot(platform, (config) => config.requireAuth('/api/**'));
  const all = await timeOfBoot(platform, bootRules);
  console.log(
    `${platform}: ${BOOT_ROUTES} routes boot in ${few.toFixed(0)} ms with one rule, in ${all.toFixed(0)} ms with ${BOOT_RULES}`,
  );
}

async function timeOfBoot(platform, declare) {
  const since = performance.now();
  const app = await boot(platform, bootPaths, declare);
  const time = performance.now() - since;
  await app.close();
  return time;
}

function token(role) {
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { sub: '1', email: 'ann@example.com', roles: [role], iat, exp: iat + 3_600 };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => base64url(JSON.stringify(part))).join('.');
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

function base64url(text) {
  return Buffer.from(text).toString('base64url');
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

if (process.send) await serve(process.argv[2], Number(process.argv[3]));
else await measure();
