/** `class-validator` decorators of an entity. The library is an optional peer dependency. */
import type { FieldError } from '../http/failure.js';

export type Validate = (entity: object) => Promise<FieldError[]>;

interface ValidationError {
  property: string;
  constraints?: Record<string, string>;
  children?: ValidationError[];
}
interface ClassValidator {
  getMetadataStorage(): {
    getTargetValidationMetadatas(target: unknown, schema: string, always: boolean, strictGroups: boolean): unknown[];
  };
  validate(entity: object, options: object): Promise<ValidationError[]>;
}

const OPTIONS = { forbidUnknownValues: false, validationError: { target: false, value: false } };

/**
 * Importing the library takes about 0.1 s: call this for the first write, not at boot.
 *
 * @returns `undefined` if the entity has no such decorators
 */
export async function loadClassValidation(target: unknown): Promise<Validate | undefined> {
  const library = await load();
  const isDecorated = library?.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false).length;
  if (!library || !isDecorated) return undefined;
  return async (entity) => (await library.validate(entity, OPTIONS)).flatMap((error) => fieldErrors(error, []));
}

async function load(): Promise<ClassValidator | undefined> {
  try {
    return (await import('class-validator')) as unknown as ClassValidator;
  } catch {
    return undefined;
  }
}

function fieldErrors(
  { property, constraints = {}, children = [] }: ValidationError,
  path: readonly string[],
): FieldError[] {
  const fieldPath = [...path, property];
  return [
    ...Object.values(constraints).map((message) => ({ field: fieldPath.join('.'), message })),
    ...children.flatMap((child) => fieldErrors(child, fieldPath)),
  ];
}
