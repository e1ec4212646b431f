import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { addAccess, serveDocuments } from 'declarest/openapi';
import { describeService } from 'ra-data-declarest/description';

interface Listed {
  getIn(path: readonly string[]): string;
}

/** List, get, create and so on. The browser runs this function, which therefore refers to nothing outside of it. */
function operationsSorter(one: Listed, other: Listed): number {
  const order = ['list', 'get', 'search', 'exists', 'export', 'create', 'replace', 'update', 'delete', 'restore'];
  const rank = (each: Listed): number => {
    const id = each.getIn(['operation', 'operationId']);
    const place = order.findIndex((verb) => id.startsWith(verb));
    return place < 0 ? order.length : place;
  };
  return rank(one) - rank(other);
}

/**
 * Swagger UI at `/docs`, the document at `/docs-json`, and what the interface of `ra-data-declarest` reads of it. These are
 * routes outside Nest, which `ShopSecurity` opens.
 */
export function serveDocs(app: INestApplication): void {
  const config = new DocumentBuilder()
    .setTitle('Shop')
    .setVersion('1.0')
    .setOpenAPIVersion('3.1.0')
    .addServer('/')
    .addBearerAuth()
    .build();
  let made: ReturnType<typeof addAccess> | undefined;
  const document = (): ReturnType<typeof addAccess> =>
    (made ??= addAccess(SwaggerModule.createDocument(app, config), app));
  SwaggerModule.setup('docs', app, document, { raw: false, swaggerOptions: { operationsSorter } });
  serveDocuments(app, {
    '/docs-json': document,
    '/admin/resources.json': () => describeService(document(), '/api'),
  });
}
