#!/usr/bin/env bash
# nestjs-cls 6.3.0 with @nestjs/core 12.5.1 on Node 24.
#
# Expected: a handler behind two interceptors finds the AsyncLocalStorage of both, as Nest promises: it binds what `handle()`
# starts to the context in which an interceptor calls it.
# Seen: behind `ClsInterceptor`, the storage that an interceptor before it opened by `run(store, () => next.handle())` is
# gone: `getStore()` is undefined in the handler, without a message. ClsInterceptor calls `handle()` when its Observable is
# subscribed to, which happens outside of the interceptors. A tenant, a transaction or a span of the first interceptor is
# lost. In the other order both are there, and with ClsMiddleware too.
# Generated operations of declarest had such an interceptor of their own; test/twins/neighbours.spec.ts has the case.
#
# Fails if the handler finds the outer storage.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @nestjs/common@12.5.1 @nestjs/core@12.5.1 \
  @nestjs/platform-express@12.5.1 nestjs-cls@6.3.0 reflect-metadata@0.2.2 rxjs@7.8.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { ClsInterceptor, ClsModule, ClsServiceManager } from 'nestjs-cls';

const tenant = new AsyncLocalStorage();

class TenantInterceptor {
  intercept(_context, next) {
    return tenant.run('north', () => next.handle());
  }
}

class Reader {
  read() {
    return `tenant ${tenant.getStore()}, cls ${ClsServiceManager.getClsService().isActive()}`;
  }
}
Get()(Reader.prototype, 'read', Object.getOwnPropertyDescriptor(Reader.prototype, 'read'));
Controller()(Reader);

/** @returns what the handler finds behind interceptors in this order */
async function seenBehind(...interceptors) {
  class AppModule {}
  const providers = interceptors.map((useClass) => ({ provide: APP_INTERCEPTOR, useClass }));
  Module({ imports: [ClsModule.forRoot({ global: true })], controllers: [Reader], providers })(AppModule);
  const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  const text = await (await fetch(await app.getUrl())).text();
  await app.close();
  return text;
}

const outer = await seenBehind(TenantInterceptor, ClsInterceptor);
const inner = await seenBehind(ClsInterceptor, TenantInterceptor);
console.log('before ClsInterceptor:', outer);
console.log('behind ClsInterceptor:', inner);
process.exit(outer === 'tenant undefined, cls true' && inner === 'tenant north, cls true' ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
