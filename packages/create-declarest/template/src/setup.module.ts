// What every service needs besides its declarations: the database, CORS, security headers, Swagger UI and the interface at /admin.
import { fileURLToPath } from 'node:url';
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import type { NestExpressApplication as Application } from '@nestjs/platform-express'; // {{APPLICATION_IMPORT}}
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import { cors } from 'declarest';
import { addAccess } from 'declarest/openapi';
import { databaseOptions } from './data-source.js';
import { frontEndOrigin } from './environment.js';

@Module({ imports: [TypeOrmModule.forRoot(databaseOptions)] })
export class SetupModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    if (frontEndOrigin) consumer.apply(cors(frontEndOrigin)).forRoutes('/api/*path');
  }
}

const ADMIN = fileURLToPath(new URL('.', import.meta.resolve('ra-data-declarest/static/index.html')));

/** `declarest access` calls it too: it must not connect to anything. */
export function configure(app: Application): void {
  app.useSecurityHeaders();
  const config = new DocumentBuilder().setTitle('{{NAME}}').setOpenAPIVersion('3.1.0').addBearerAuth().build();
  const document = () => addAccess(SwaggerModule.createDocument(app, config), app);
  SwaggerModule.setup('docs', app, document, { raw: ['json'] });
  // The interface reads this document, which shows it the resources.
  SwaggerModule.setup('admin', app, document, { ui: false, raw: ['json'], jsonDocumentUrl: 'admin/openapi.json' });
  app.useStaticAssets(ADMIN, { prefix: '/admin/' }); // {{ADMIN_FILES}}
}
