// What every service needs besides its declarations: the database, health checks, CORS, security headers, Swagger UI and /admin.
import { fileURLToPath } from 'node:url';
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import type { NestExpressApplication as Application } from '@nestjs/platform-express'; // {{APPLICATION_IMPORT}}
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { cors } from 'declarest';
import { addAccess, serveDocuments, serveFolder } from 'declarest/openapi';
import { describeService } from 'ra-data-declarest/description';
import { databaseOptions } from './data-source.js';
import { drainMs, frontEndOrigin } from './environment.js';
import { HealthController } from './health.controller.js';
// {{ADMIN_IMPORT}}

@Module({
  imports: [TypeOrmModule.forRoot(databaseOptions), TerminusModule.forRoot({ gracefulShutdownTimeoutMs: drainMs })],
  controllers: [HealthController],
})
export class SetupModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    if (frontEndOrigin) consumer.apply(cors(frontEndOrigin)).forRoutes('/api/*path');
  }
}

const ADMIN = fileURLToPath(new URL('.', import.meta.resolve('ra-data-declarest/static/index.html')));

/** `declarest access` calls it too: it must not connect to anything. */
export function configure(app: Application): void {
  // Otherwise pages that a browser opens over plain HTTP, as in a local network, stay blank. Over TLS, HSTS does the same.
  app.useSecurityHeaders({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  const config = new DocumentBuilder().setTitle('{{NAME}}').setOpenAPIVersion('3.1.0').addBearerAuth().build();
  let made: ReturnType<typeof addAccess> | undefined;
  const document = () => (made ??= addAccess(SwaggerModule.createDocument(app, config), app));
  SwaggerModule.setup('docs', app, document, { raw: false });
  // The interface reads the other two: the resources, and the ways to log in besides the password.
  serveDocuments(app, {
    '/docs-json': document,
    '/admin/resources.json': () => describeService(document(), '/api'),
    '/admin/logins.json': () => ({}), // {{ADMIN_LOGINS}}
  });
  serveFolder(app, '/admin', ADMIN, 'assets');
  // {{ADMIN_PAGES}}
}
