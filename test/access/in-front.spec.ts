/** What answers in front of the package's first middleware, where no rule can refuse a request. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import fastify from 'fastify';
import { request } from '../harness/client.js';
import { linesOf } from '../harness/platforms.js';
import { type Declare, startRuled, TOKENS } from './ruled-app.js';

const folder = mkdtempSync(join(tmpdir(), 'declarest-front-'));
writeFileSync(join(folder, 'x.txt'), 'the file');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const closing: Declare = ({ requireRole }) => requireRole('ADMIN', '/files/**');
const answer = (_: unknown, response: { send: (text: string) => unknown }) => void response.send('the answer');
const pass = (_: unknown, __: unknown, next: () => void) => next();

type Server = ReturnType<typeof express>;
type Mounts = (server: Server) => unknown;

const startBehind = (mounts: Mounts, rules: Declare = closing, strict = false) => {
  const server = express();
  mounts(server);
  return startRuled('express', { routes: ['GET a'], rules, adapter: new ExpressAdapter(server), auth: { strict } });
};

const refused = (path: string, rule = '"ADMIN", "/files/**"') =>
  `The route or mount ${path} of the Express instance must be behind the first middleware of declarest, got it in front, where TestSecurity.requireRole(${rule}) is not enforced. Mount it in main.ts with app.use(), or remove the rule.`;

describe('an Express instance with mounts of its own', () => {
  it.each<[string, string, Mounts]>([
    ['static files', '/files{/*rest}', (server) => server.use('/files', express.static(folder))],
    ['a sub-application', '/files{/*rest}', (server) => server.use('/files', express().get('/x', answer))],
    ['a route', '/files/x', (server) => server.get('/files/x', answer)],
    ['a route of every method', '/files/:name', (server) => server.all('/files/:name', answer)],
    ['a router at the root', '/files/x', (server) => server.use(express.Router().get('/files/x', answer))],
    ['a mount above the rule', '/{*rest}', (server) => server.use(/^\/fi/, answer)],
    ['a middleware below a path', '/files/x{/*rest}', (server) => server.use('/files/x', pass)],
    ['several of them', '/files/a and 2 more', (server) => ['a', 'b', 'c'].map((x) => server.get(`/files/${x}`, pass))],
  ])('[3.6] refuses to start with %s that a rule restricts', async (_, path, mounts) => {
    await expect(startBehind(mounts)).rejects.toThrow(refused(path));
  });

  it('[3.6] refuses a mount that a rule restricts in part, and a route that shadows one of Nest', async () => {
    const part: Declare = ({ requireRole }) => requireRole('ADMIN', '/files/secret/*');
    const files: Mounts = (server) => server.use('/files', express.static(folder));
    await expect(startBehind(files, part)).rejects.toThrow(refused('/files{/*rest}', '"ADMIN", "/files/secret/*"'));
    const nest: Declare = ({ requireRole }) => requireRole('ADMIN', 'GET /a');
    await expect(startBehind((server) => server.get('/a', answer), nest)).rejects.toThrow(
      refused('/a', '"ADMIN", "GET /a"'),
    );
  });

  it('[3.6] starts with middleware of the whole application, and with mounts that no rule restricts', async () => {
    const app = await startBehind(
      (server) => {
        server.use(express.json(), express.urlencoded(), pass);
        server.use('/', (_error: unknown, _request: unknown, _response: unknown, next: (error: unknown) => void) =>
          next(_error),
        );
        server.use('/open', express.static(folder));
        server.post('/files-of-others', answer);
      },
      (rules) => {
        closing(rules);
        rules.publicEndpoints('/open/**', '/files-of-others');
      },
      true,
    ).catch((error: Error) => error.message);
    // Only the routes of Nest lack a rule.
    expect(app).toMatch(/^No rule matches GET \/a: the default access applies\./);
  });

  it('[3.6] starts where a public rule opens the mount, and serves it', async () => {
    const app = await startBehind(
      (server) => server.use('/files', express.static(folder)),
      ({ requireRole, publicEndpoints }) => {
        requireRole('ADMIN', '/**');
        publicEndpoints('/files/**');
      },
    );
    expect((await request(app.url, 'GET', '/files/x.txt')).text).toBe('the file');
    expect((await request(app.url, 'GET', '/a')).status).toBe(401);
    await app.close();
  });
});

describe('a module that moves its mount to the front, as @adminjs/nestjs does', () => {
  const panelAt = (path: string) => {
    @Injectable()
    class Panel implements OnModuleInit {
      constructor(private readonly host: HttpAdapterHost) {}
      onModuleInit(): void {
        const { router } = this.host.httpAdapter.getInstance<{ router: { stack: unknown[] } }>();
        this.host.httpAdapter.use(path, answer as never);
        router.stack.unshift(router.stack.pop());
      }
    }
    return Panel;
  };

  it('[3.6] refuses to start where a rule restricts it', async () => {
    const start = startRuled('express', { routes: ['GET a'], rules: closing, providers: [panelAt('/files')] });
    await expect(start).rejects.toThrow(refused('/files{/*rest}'));
  });

  it('[3.6] starts where none does, and applies the rules to what stays behind', async () => {
    const app = await startRuled('express', {
      routes: ['GET a'],
      rules: closing,
      providers: [panelAt('/panel')],
      configure: (nest) => void nest.use('/files', express.static(folder)),
    });
    expect((await request(app.url, 'GET', '/panel/x')).text).toBe('the answer');
    expect((await request(app.url, 'GET', '/files/x.txt')).status).toBe(401);
    expect((await request(app.url, 'GET', '/files/x.txt', { token: TOKENS.ADMIN })).text).toBe('the file');
    expect(linesOf(app.logs, 'warn').join()).toContain('No rule matches');
    await app.close();
  });
});

describe('a Fastify instance with routes of its own', () => {
  it('[3.6] applies the rules to routes, plugins and encapsulated hooks that were there before', async () => {
    const instance = fastify({ forceCloseConnections: true });
    instance.get('/files/x', async () => 'the route');
    instance.register(
      async (inner) => {
        inner.addHook('onRequest', async () => undefined);
        inner.get('/y', async () => 'the plugin');
      },
      { prefix: '/files' },
    );
    const app = await startRuled('fastify', {
      routes: ['GET a'],
      rules: closing,
      adapter: new FastifyAdapter(instance as never),
    });
    for (const path of ['/files/x', '/files/y']) {
      expect((await request(app.url, 'GET', path)).status).toBe(401);
      expect((await request(app.url, 'GET', path, { token: TOKENS.ADMIN })).status).toBe(200);
    }
    await app.close();
  });
});
