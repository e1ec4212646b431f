// Whether the time of an answer tells if a user exists: 2,000 logins, forgotten passwords and refreshes for known and unknown
// users, and the requests that follow a forgotten password, in random order, compared by Welch's t-test. Exits 1 where |t| is
// above 4.5, the threshold of dudect.
//
//     npm run proof:timing                 2,000 samples of each
//     TIMING_SAMPLES=500 npm run proof:timing
import 'reflect-metadata';
import { fork } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser } from 'declarest';
import { Entity } from 'typeorm';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';

const SAMPLES = Number(process.env.TIMING_SAMPLES ?? 2_000);
const THRESHOLD = 4.5;
const USERS = 20;
const PASSWORD = 'correct horse battery';

class User extends AuthUser {}
Entity()(User);

const folder = process.env.TIMING_FOLDER ?? mkdtempSync(join(tmpdir(), 'declarest-timing-'));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The server is a process of its own: what it does after an answer must not delay the client by sharing its event loop. */
async function serve(adapter) {
  class AppModule {
    users = User;
  }
  Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'better-sqlite3',
        driver: createRequire(import.meta.url)(SQLITE_PACKAGE),
        database: join(folder, `${adapter.constructor.name}.db`),
        autoLoadEntities: true,
        synchronize: true,
      }),
      AuthModule.forRoot({
        userClass: User,
        jwtSecret: 'x'.repeat(40),
        // A cheap hash hides the least.
        bcryptRounds: 4,
        sessions: true,
        passwordReset: true,
        throttle: false,
        mailer: { useValue: { send: () => delay(20) } },
      }),
    ],
  })(AppModule);
  const app = await NestFactory.create(AppModule, adapter, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  process.send(app.getHttpServer().address().port);
}

function post(port, path, json) {
  const body = JSON.stringify(json);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const sent = request(
      { port, host: '127.0.0.1', agent, method: 'POST', path: `/api/auth/${path}`, headers },
      (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => {
          const microseconds = Number(process.hrtime.bigint() - start) / 1_000;
          resolve({ microseconds, status: answer.statusCode, text: Buffer.concat(chunks).toString() });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Another secret and tag for the id of a session. */
const forged = (id) => Buffer.concat([id, randomBytes(48)]).toString('base64url');

const login = ({ email }) => ['login', { email, password: 'not the password' }];
const forgot = ({ email }) => ['password/forgot', { email }];
const refresh = ({ session }) => ['refresh', { refreshToken: forged(session) }];
const anything = () => refresh({ session: randomBytes(16) });

/** The requests for a known or an unknown user, the last of which is measured. */
const OPERATIONS = {
  login: [login],
  forgot: [forgot],
  'request after forgot': [forgot, anything],
  refresh: [refresh],
};

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const varianceOf = (values, mean) => values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);

/** Garbage collection and other processes make some answers slow: the slowest tenth of all is left out. */
function compare(known, unknown) {
  const limit = [...known, ...unknown].toSorted((a, b) => a - b)[Math.floor((known.length + unknown.length) * 0.9)];
  const [a, b] = [known, unknown].map((values) => values.filter((value) => value <= limit));
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  const t = (meanA - meanB) / Math.sqrt(varianceOf(a, meanA) / a.length + varianceOf(b, meanB) / b.length);
  return { meanA, meanB, t };
}

async function measure(platform) {
  const server = fork(fileURLToPath(import.meta.url), [platform], { env: { ...process.env, TIMING_FOLDER: folder } });
  const [port] = await once(server, 'message');
  const known = [];
  for (let index = 0; index < USERS; index += 1) {
    const email = `known${String(index).padStart(2, '0')}@shop.example`;
    const { data } = JSON.parse((await post(port, 'register', { email, password: PASSWORD })).text);
    known.push({ email, session: Buffer.from(data.refreshToken, 'base64url').subarray(0, 16) });
  }
  const unknown = known.map(({ email }) => ({ email: email.replace('known', 'other'), session: randomBytes(16) }));
  for (const [operation, requests] of Object.entries(OPERATIONS)) {
    const times = { known: [], unknown: [] };
    const answers = new Set();
    for (let index = -100; times.known.length < SAMPLES || times.unknown.length < SAMPLES; index += 1) {
      const kind = randomInt(2) === 0 ? 'known' : 'unknown';
      const users = kind === 'known' ? known : unknown;
      const user = users[randomInt(USERS)];
      let answer;
      for (const make of requests) answer = await post(port, ...make(user));
      answers.add(`${answer.status} ${answer.text}`);
      if (index >= 0) times[kind].push(answer.microseconds);
    }
    const { meanA, meanB, t } = compare(times.known, times.unknown);
    const isEqual = Math.abs(t) <= THRESHOLD && answers.size === 1;
    if (!isEqual) failed += 1;
    console.log(
      `${isEqual ? 'ok ' : 'BAD'} ${platform} ${operation}: known ${meanA.toFixed(1)} µs, unknown ${meanB.toFixed(1)} µs, t = ${t.toFixed(2)}, ${answers.size} kind of answer`,
    );
  }
  server.kill();
  await once(server, 'exit');
}

const ADAPTERS = { express: ExpressAdapter, fastify: FastifyAdapter };
let failed = 0;
const [served] = process.argv.slice(2);
if (served) await serve(new ADAPTERS[served]());
else {
  for (const platform of Object.keys(ADAPTERS)) await measure(platform);
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = failed === 0 ? 0 : 1;
}
