import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { addAccess } from 'declarest/openapi';

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
  SwaggerModule.setup('docs', app, document, { raw: ['json'], swaggerOptions: { operationsSorter } });
}
