/** The addresses of clients behind a proxy that the application does not trust. */
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AccessModule } from 'declarest';
import express from 'express';
import { startRuled } from '../access/ruled-app.js';
import { request } from '../harness/client.js';
import { linesOf, type Platform, PLATFORMS, startApp } from '../harness/platforms.js';

const trusting = (platform: Platform, trust: unknown) =>
  platform === 'fastify'
    ? new FastifyAdapter({ trustProxy: trust, forceCloseConnections: true } as never)
    : new ExpressAdapter(express().set('trust proxy', trust));

const SETTING = {
  express: "app.set('trust proxy', 'loopback')",
  fastify: "new FastifyAdapter({ trustProxy: 'loopback' })",
};

describe.each(PLATFORMS)('on %s', (platform) => {
  const start = (trust: unknown) =>
    startRuled(platform, {
      routes: ['GET a'],
      rules: ({ publicEndpoints }) => publicEndpoints('/a'),
      adapter: trusting(platform, trust),
    });
  const aboutProxies = (logs: readonly string[]) => linesOf(logs, 'warn').filter((line) => line.includes('proxy'));

  it.each([
    ['x-forwarded-for', '192.0.2.1', 'POST', '/api/auth/login'],
    ['forwarded', 'for=192.0.2.1', 'GET', '/a'],
    ['x-forwarded-for', '', 'GET', '/nowhere'],
  ])(
    '[2.4] warns once at the first request with %s: %s where no proxy is trusted',
    async (name, value, method, path) => {
      const app = await start(false);
      const plain = await request(app.url, method, path, { json: {} });
      expect(aboutProxies(app.logs)).toEqual([]);
      const answers = [];
      for (const _ of [1, 2, 3])
        answers.push(await request(app.url, method, path, { json: {}, headers: { [name]: value } }));
      expect(aboutProxies(app.logs)).toEqual([
        `warn [AuthModule] A request has the header ${name}, but no proxy is trusted: behind one, all clients share its address, and failed logins of one lock out the others. Name the proxy, such as by ${SETTING[platform]}.`,
      ]);
      for (const { status, text } of answers) expect([status, text]).toEqual([plain.status, plain.text]);
      await app.close();
    },
  );

  it.each([[true], ['loopback'], ['10.0.0.0/8, 192.0.2.7'], [1]])(
    '[2.4] is silent where %s is trusted',
    async (trust) => {
      const app = await start(trust);
      await request(app.url, 'GET', '/a', { headers: { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' } });
      expect(aboutProxies(app.logs)).toEqual([]);
      await app.close();
    },
  );

  it('[2.4] is silent in AccessModule, which keeps no addresses', async () => {
    const app = await startApp(platform, { imports: [AccessModule.forRoot({ authenticate: () => undefined })] });
    await request(app.url, 'GET', '/a', { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(aboutProxies(app.logs)).toEqual([]);
    await app.close();
  });
});
