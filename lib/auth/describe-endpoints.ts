/** Describes the controllers of authentication for @nestjs/swagger, where it is installed. */
import { Logger, type Type } from '@nestjs/common';
import { describeController, loadSwagger } from '../documents/describe-controller.js';
import { signed } from '../entities/value-types.js';
import { describeAuth } from './auth-document.js';
import type { ResolvedAuthOptions } from './auth.options.js';
import type { Registration } from './registration.js';

/** For `SwaggerModule.createDocument`, which may be called before `app.init()`. */
export async function describeEndpoints(
  controllers: readonly Type<unknown>[],
  { schemas, required }: Registration,
  { loginField, parseId, sessions, requireVerified }: ResolvedAuthOptions,
): Promise<void> {
  const swagger = await loadSwagger((sentence) => new Logger('AuthModule').warn(sentence));
  if (!swagger) return;
  const isText = typeof parseId('1') === 'string';
  const id = isText ? { type: 'string' } : signed(64n).schemas.answer;
  const facts = { loginField, hasSessions: sessions !== undefined, requireVerified, id, fields: schemas, required };
  const document = describeAuth(facts);
  for (const controller of controllers) {
    const prototype = controller.prototype as Readonly<Record<string, object>>;
    const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(
      ([name, { value }]): [string, object][] =>
        document.operations.has(name) && Reflect.hasMetadata('path', value as object) ? [[name, value as object]] : [],
    );
    const operations = new Map([...document.operations].filter(([name]) => methods.some(([each]) => each === name)));
    const used = schemasOf(document.schemas, JSON.stringify([...operations.values()]));
    describeController(swagger, controller, new Map(methods), { ...document, operations, schemas: used });
  }
}

/** Those that a text refers to, directly or through others. */
function schemasOf(
  schemas: ReturnType<typeof describeAuth>['schemas'],
  text: string,
): ReturnType<typeof describeAuth>['schemas'] {
  return schemas.filter(({ name }) => text.includes(`schemas/${name}"`));
}
