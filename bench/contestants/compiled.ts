/**
 * What is left to Nest when everything else is compiled by hand for this one table: the prototype of which the goals were
 * taken. Its answers are texts, a hook or middleware decides on access and CORS, and nothing is declared. On Express with
 * the package's adapter, without which Express's own cost hides the rest.
 */
import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Body, Controller, Delete, Get, Module, Param, Post, Put, Query, Res } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from 'declarest/express';
import { CORS_HEADERS, PREFLIGHT_HEADERS } from './raw/cors.js';
import { refusalOf } from './raw/refusal.js';
import { create, find, list, remove, search, update, type Answer, type Body as Fields } from './raw/service.js';
import { PLATFORM, PRODUCTS, PROTECTED, ready } from './settings.js';

type Headers = Readonly<Record<string, string>>;
interface Reply {
  code(status: number): this;
  headers(headers: Headers): this;
  send(text?: string): this;
}

type Hook = (
  request: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] },
  reply: Reply,
  done: () => void,
) => void;
interface Fastify {
  addHook(name: 'onRequest', hook: Hook): void;
}

const isFastify = PLATFORM === 'fastify';
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', ...CORS_HEADERS };

const answerTo = (target: unknown): Answer =>
  isFastify
    ? (status, text, headers) =>
        void (target as Reply)
          .code(status)
          .headers(headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS)
          .send(text)
    : (status, text, headers) =>
        void (target as ServerResponse)
          .writeHead(status, { ...JSON_HEADERS, 'content-length': Buffer.byteLength(text), ...headers })
          .end(text);

@Controller(PRODUCTS)
class ProductsController {
  @Get()
  list(@Query() query: Headers, @Res() response: unknown): void {
    list({ get: (name) => query[name] ?? null }, answerTo(response));
  }

  @Get('search')
  search(@Query() query: Headers, @Res() response: unknown): void {
    search({ get: (name) => query[name] ?? null }, answerTo(response));
  }

  @Get(':id')
  find(@Param('id') id: string, @Res() response: unknown): void {
    find(id, answerTo(response));
  }

  @Post()
  create(@Body() body: Fields, @Res() response: unknown): void {
    create(body, answerTo(response));
  }

  @Put(':id')
  update(@Param('id') id: string, @Body() body: Fields, @Res() response: unknown): void {
    update(id, body, answerTo(response));
  }

  @Delete(':id')
  remove(@Param('id') id: string, @Res() response: unknown): void {
    remove(id, answerTo(response));
  }
}

@Controller(PROTECTED)
class ProtectedProductsController extends ProductsController {}

@Module({ controllers: [ProductsController, ProtectedProductsController] })
class AppModule {}

/** Preflights and refusals. @returns whether it has answered */
function answeredBefore(method: string, url: string, authorization: string | undefined, target: unknown): boolean {
  if (method === 'OPTIONS') {
    if (isFastify) (target as Reply).code(204).headers(PREFLIGHT_HEADERS).send();
    else (target as ServerResponse).writeHead(204, PREFLIGHT_HEADERS).end();
    return true;
  }
  const refusal = url.startsWith(PROTECTED) ? refusalOf(url, authorization) : undefined;
  if (refusal) answerTo(target)(refusal.status, refusal.text, refusal.headers);
  return refusal !== undefined;
}

const adapter = (isFastify ? new FastifyAdapter() : new ExpressAdapter()) as unknown as AbstractHttpAdapter;
const app = await NestFactory.create(AppModule, adapter, { logger: ['error'] });
if (isFastify)
  adapter.getInstance<Fastify>().addHook('onRequest', ({ method, url, headers }, reply, done) => {
    if (!answeredBefore(method, url, headers.authorization, reply)) done();
  });
else
  app.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
    const { method = '', url = '', headers } = request;
    if (!answeredBefore(method, url, headers.authorization, response)) next();
  });
await app.listen(0, '127.0.0.1');
ready((app.getHttpServer().address() as { port: number }).port);
