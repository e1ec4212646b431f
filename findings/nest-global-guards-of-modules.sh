#!/usr/bin/env bash
# @nestjs/core 12.5.1 on Node 24.
#
# Expected: global guards (APP_GUARD) run in the order in which modules depend on each other, so that the guard of an imported
# module runs before that of the module that imports it; and what `forRoot` returns comes where the module is imported.
# Seen: the guard of the module that imports runs first, then that of the module it imports, each module once, in the order
# in which the modules are found from the root. Of one module, the guards of @Module() come before those of `forRoot`. A
# guard that identifies users, in a module that a module of rules imports, therefore runs behind the rules.
# declarest puts its guard behind the one that identifies users, in one list of providers (lib/access/access.module.ts).
#
# Fails if the order is another one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @nestjs/core@12.5.1 @nestjs/common@12.5.1 \
  @nestjs/platform-express@12.5.1 reflect-metadata@0.2.2 rxjs@7.8.2
cat >run.mjs <<'JS'
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';

const order = [];
const guard = (name) => ({ provide: APP_GUARD, useValue: { canActivate: () => order.push(name) > 0 } });

class Users {
  static forRoot() {
    return { module: Users, providers: [guard('users, of forRoot')] };
  }
}
Module({ providers: [guard('users, of @Module()')] })(Users);

class Rules {}
Module({ imports: [Users.forRoot()], providers: [guard('rules, which import users')] })(Rules);

class Home {
  home() {
    return 'home';
  }
}
Controller()(Home);
Get()(Home.prototype, 'home', Object.getOwnPropertyDescriptor(Home.prototype, 'home'));

class App {}
Module({ imports: [Rules], controllers: [Home], providers: [guard('application')] })(App);

const app = await NestFactory.create(App, { logger: false });
await app.listen(0, '127.0.0.1');
await (await fetch(await app.getUrl())).text();
await app.close();
console.log(order.join('\n'));
const seen = ['application', 'rules, which import users', 'users, of @Module()', 'users, of forRoot'];
process.exit(JSON.stringify(order) === JSON.stringify(seen) ? 0 : 1);
JS
node_modules/node/bin/node run.mjs
