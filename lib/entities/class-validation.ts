/** `class-validator` decorators of an entity. The library is an optional peer dependency. */
import type { ValidationError } from 'class-validator';
import type { FieldError } from '../http/failure.js';

const OPTIONS = { forbidUnknownValues: false, validationError: { target: false, value: false } };

/** `undefined` if the entity has no such decorators. Importing the library takes 0.1 s: call this for the first write. */
export async function loadClassValidation(
  target: Function,
): Promise<((entity: object) => Promise<FieldError[]>) | undefined> {
  const library = await import('class-validator').catch(() => undefined);
  const isDecorated = library?.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false).length;
  if (!library || !isDecorated) return undefined;
  return async (entity) => (await library.validate(entity, OPTIONS)).flatMap((error) => fieldErrors(error));
}

function fieldErrors({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldError[] {
  const field = parent + property;
  return [
    ...Object.values(constraints).map((message) => ({ field, message })),
    ...children.flatMap((child) => fieldErrors(child, `${field}.`)),
  ];
}
