import 'reflect-metadata';

import { randomBytes } from 'node:crypto';

import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ExpressAdapter } from 'declarest/express';

import { AppModule } from './app.module.js';
import { readConfig } from './config.js';
import { assertWritable } from './database.js';
import { serveDocs } from './docs.js';
import { FirstStart } from './first-start.js';
import { assertPortFree } from './port.js';
import { StartError } from './start-error.js';
import { welcome } from './welcome.js';

try {
  const config = readConfig(process.env);
  await assertPortFree(config.port);
  await assertWritable(config.database);
  // Outside of production: access tokens then end with the process, and sessions go on.
  const jwtSecret = config.jwtSecret ?? randomBytes(48).toString('base64url');
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with({ ...config, jwtSecret }),
    new ExpressAdapter(),
    {
      return503OnClosing: true,
      // Fixed paths such as `search` are routed before `:id` on purpose, so that is no conflict.
      routeConflictPolicy: { duplicate: 'error' },
    },
  );
  app.set('trust proxy', config.trustProxy);
  // Longer than a proxy keeps idle connections (nginx: 60 s), or writes that meet the end of one are answered with 502.
  app.getHttpServer().keepAliveTimeout = 65_000;
  // Otherwise pages that a browser opens over plain HTTP, as in a local network, stay blank. Over TLS, HSTS does the same.
  app.useSecurityHeaders({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  serveDocs(app);
  app.enableShutdownHooks(['SIGINT', 'SIGTERM'], { useProcessExit: true });
  await app.listen(config.port);
  const address = new URL(await app.getUrl());
  address.hostname = 'localhost';
  const password = app.get(FirstStart).generatedPassword;
  console.log(welcome(address.origin, password === undefined ? undefined : { email: config.adminEmail, password }));
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}
