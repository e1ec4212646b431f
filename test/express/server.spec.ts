import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from 'declarest/express';
import express from 'express';

@Controller()
class KindController {
  @Get('kind')
  kind(@Req() request: http.IncomingMessage & { app: unknown }) {
    return { express: 'get' in request, protocol: (request as unknown as { protocol: string }).protocol };
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

it('keeps the messages of node apart for https', () => {
  const instance = express();
  const adapter = new ExpressAdapter(instance);
  adapter.initHttpServer({ httpsOptions: {} });
  const server = adapter.getHttpServer() as unknown as Record<symbol, { prototype: object }>;
  const created = Object.getOwnPropertySymbols(server).map((symbol) => server[symbol]?.prototype);
  expect(created).toEqual(expect.arrayContaining([instance.request, instance.response]));
});
