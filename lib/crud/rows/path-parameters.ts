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
    const given = request?.params?.[parameter];
    if (given === undefined) {
      const advice = `run them by runAs(user, work, { path: { ${parameter}: … } })`;
      throw new TypeError(`${name} is served below :${parameter}: its operations need a value for it; ${advice}`);
    }
    const reading = typeof given === 'string' ? field.type.readText(given) : field.type.read(given);
    if (!('value' in reading)) throw new NotFoundException(`No ${name} exists at this path`);
    values.set(field, reading.value);
  }
  return values;
}
