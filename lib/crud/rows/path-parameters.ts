/** The parameters of an endpoint such as `/api/shops/:shopId/products`: each names a field of the entity. */
import { NotFoundException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import type { HttpRequest } from '../../http/request-facts.js';

/** The value of each field. @throws 404 for a value that is none for its column */
export function pathValues(
  name: string,
  parameters: ReadonlyMap<string, Field>,
  request: HttpRequest | undefined,
): ReadonlyMap<Field, unknown> {
  const values = new Map<Field, unknown>();
  for (const [parameter, field] of parameters) {
    const text = request?.params?.[parameter];
    if (typeof text !== 'string')
      throw new TypeError(`${name} is served below a path parameter: its operations need a request with :${parameter}`);
    const reading = field.type.readText(text);
    if (!('value' in reading)) throw new NotFoundException(`No ${name} exists at this path`);
    values.set(field, reading.value);
  }
  return values;
}
