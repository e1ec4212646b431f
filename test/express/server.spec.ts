import * as http from 'node:http';
import * as https from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Body, Controller, Get, Module, Post, Req, Version, VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from 'declarest/express';
import express from 'express';
import { rawRequest } from '../harness/raw-socket.js';
import { CERTIFICATE, KEY } from './self-signed.js';

@Controller()
class KindController {
  @Get('kind')
  kind(@Req() request: http.IncomingMessage & { app: unknown }) {
    return { express: 'get' in request, protocol: (request as unknown as { protocol: string }).protocol };
  }

  @Version('2')
  @Get('kind')
  second() {
    return 'the second version';
  }

  /** As versions of Express before the fifth wrote it. */
  @Get('files/*')
  files() {
    return 'any file';
  }

  @Post('echo')
  echo(@Body() body: unknown) {
    return body;
  }
}

@Module({ controllers: [KindController] })
class KindModule {}

const start = async (options: object = {}) => {
  const instance = express();
  const app = await NestFactory.create(KindModule, new ExpressAdapter(instance), { logger: false, ...options });
  await app.init();
  const server = app.getHttpServer() as http.Server;
  const prototypes: boolean[] = [];
  // Before Express's own listener.
  server.prependListener('request', (request, response) =>
    prototypes.push(
      Object.getPrototypeOf(request) === instance.request,
      Object.getPrototypeOf(response) === instance.response,
    ),
  );
  await app.listen(0, '127.0.0.1');
  return { app, prototypes, port: (server.address() as AddressInfo).port };
};

it.each([{}, { forceCloseConnections: true }, { return503OnClosing: true }])(
  'node creates what Express would make of it (%j)',
  async (options) => {
    const { app, prototypes, port } = await start(options);
    const answer = await fetch(`http://127.0.0.1:${port}/kind`);
    expect(await answer.json()).toEqual({ express: true, protocol: 'http' });
    expect(prototypes).toEqual([true, true]);
    await app.close();
  },
);

it('creates messages with Express’s prototypes for https', () => {
  const instance = express();
  const adapter = new ExpressAdapter(instance);
  adapter.initHttpServer({ httpsOptions: {} });
  const server = adapter.getHttpServer() as unknown as Record<symbol, { prototype: object }>;
  const created = Object.getOwnPropertySymbols(server).map((symbol) => server[symbol]?.prototype);
  expect(created).toEqual(expect.arrayContaining([instance.request, instance.response]));
});

it('creates messages with Express’s prototypes over TLS', async () => {
  const { app, prototypes, port } = await start({ httpsOptions: { key: KEY, cert: CERTIFICATE } });
  const [answer] = (await once(https.get({ port, path: '/kind', ca: CERTIFICATE, host: 'localhost' }), 'response')) as [
    http.IncomingMessage,
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual({ express: true, protocol: 'https' });
  expect(prototypes).toEqual([true, true]);
  await app.close();
});

it('emits upgrade, and answers Expect: 100-continue', async () => {
  const { app, port } = await start();
  (app.getHttpServer() as http.Server).on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello'),
  );
  const upgraded = await rawRequest(
    port,
    'GET /kind HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n',
  );
  expect([upgraded.status, upgraded.raw.toString().endsWith('hello')]).toEqual([101, true]);
  const request = http.request({ port, path: '/echo', method: 'POST' });
  request.setHeader('content-type', 'application/json');
  request.setHeader('expect', '100-continue');
  request.flushHeaders();
  await once(request, 'continue');
  request.end('{"asked":true}');
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual({ asked: true });
  await app.close();
});

it('serves versions and static files as Nest’s adapter does', async () => {
  const app = await NestFactory.create(KindModule, new ExpressAdapter(), { logger: false });
  app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  (app as unknown as { useStaticAssets(folder: string): void }).useStaticAssets(import.meta.dirname);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as http.Server).address() as AddressInfo;
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  expect(await ask('/v2/kind')).toBe('the second version');
  expect(JSON.parse(await ask('/v1/kind'))).toEqual({ express: true, protocol: 'http' });
  expect(await ask('/self-signed.ts')).toContain('export const KEY');
  expect(await ask('/v1/files/a/b')).toBe('any file');
  await app.close();
});

it.each([true, false])('with forceCloseConnections %s, open connections are closed or awaited', async (force) => {
  const { app, port } = await start({ forceCloseConnections: force });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /kind HTTP/1.1\r\nHost: a\r\n\r\nGET /kind HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n');
  await once(socket, 'data');
  let isClosed = false;
  socket.on('close', () => (isClosed = true));
  const closed = app.close();
  if (force) await closed;
  else await new Promise((resolve) => setTimeout(resolve, 200));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isClosed).toBe(force);
  socket.destroy();
  await closed;
});
