import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { addAccess } from 'declarest/openapi';

/** Swagger UI at `/docs`, and the document at `/docs-json`. Both are routes outside Nest, which `ShopSecurity` opens. */
export function serveDocs(app: INestApplication): void {
  const config = new DocumentBuilder()
    .setTitle('Shop')
    .setVersion('1.0')
    .setOpenAPIVersion('3.1.0')
    .addServer('/')
    .addBearerAuth()
    .build();
  const document = (): ReturnType<typeof addAccess> => addAccess(SwaggerModule.createDocument(app, config), app);
  SwaggerModule.setup('docs', app, document, { raw: ['json'] });
}
