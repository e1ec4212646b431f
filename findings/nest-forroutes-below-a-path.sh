#!/usr/bin/env bash
# @nestjs/core 12.5.1 with @nestjs/platform-express 12.5.1 and @nestjs/platform-fastify 12.5.0 on Node 24.
#
# Expected: `consumer.apply(middleware).forRoutes('/admin')` runs the middleware for the same requests on both platforms.
# Seen: on Express it also runs for every path below, such as GET /admin/report; on Fastify for GET /admin alone. With
# `forRoutes({ path: '/admin', method: RequestMethod.GET })` both run it for that path alone. An application that moves to
# Fastify loses what such a middleware did for the paths below, without a message. `forRoutes('/admin{/*path}')` runs it
# once for each of them on both.
# The rules of declarest do not depend on it (docs/tasks/access-rules.md, "Routes outside Nest").
#
# Fails if the two platforms run it for the same requests.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @nestjs/common@12.5.1 @nestjs/core@12.5.1 \
  @nestjs/platform-express@12.5.1 @nestjs/platform-fastify@12.5.0 reflect-metadata@0.2.2 rxjs@7.8.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { Controller, Get, Module, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

class Admin {
  read() {
    return 'read';
  }
}
Get(['', 'report'])(Admin.prototype, 'read', Object.getOwnPropertyDescriptor(Admin.prototype, 'read'));
Controller('admin')(Admin);

/** @returns the paths for which the middleware ran */
async function pathsSeen(adapter, ...routes) {
  const seen = [];
  class AppModule {
    configure(consumer) {
      consumer
        .apply((request, _response, next) => {
          seen.push(request.originalUrl);
          next();
        })
        .forRoutes(...routes);
    }
  }
  Module({ controllers: [Admin] })(AppModule);
  const app = await NestFactory.create(AppModule, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  for (const path of ['/admin', '/admin/report']) await (await fetch(url + path)).text();
  await app.close();
  return seen.join(' ');
}

const results = {};
for (const [name, Adapter] of Object.entries({ express: ExpressAdapter, fastify: FastifyAdapter })) {
  results[name] = await pathsSeen(new Adapter(), '/admin');
  console.log(`${name}, '/admin':`, results[name]);
  console.log(`${name}, GET of '/admin':`, await pathsSeen(new Adapter(), { path: '/admin', method: RequestMethod.GET }));
  console.log(`${name}, '/admin{/*path}':`, await pathsSeen(new Adapter(), '/admin{/*path}'));
}
process.exit(results.express === '/admin /admin/report' && results.fastify === '/admin' ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
