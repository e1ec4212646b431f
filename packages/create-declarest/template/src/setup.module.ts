// What every service needs besides its declarations: the database, CORS, security headers and Swagger UI.
import { type INestApplication, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
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

/** `declarest access` calls it too: it must not connect to anything. */
export function configure(app: INestApplication): void {
  app.useSecurityHeaders();
  const config = new DocumentBuilder().setTitle('{{NAME}}').setOpenAPIVersion('3.1.0').addBearerAuth().build();
  SwaggerModule.setup('docs', app, () => addAccess(SwaggerModule.createDocument(app, config), app), { raw: ['json'] });
}
