import type { Type } from '@nestjs/common';
import { InvalidOptionError } from '../../options/invalid-option.js';

/** @throws InvalidOptionError naming the option of a resource, what it must be, what was given, and what to do */
export function refuseOption(
  { entity }: { readonly entity: Type },
  option: string,
  expected: string,
  got: string,
  advice: string,
): never {
  throw new InvalidOptionError(`CRUD option \`${option}\` of ${entity.name}`, expected, got, advice);
}

/** For messages. */
export const fieldNames = (fields: readonly { readonly name: string }[]): string =>
  `fields among ${fields.map(({ name }) => name).join(', ')}`;
