/** `class-validator` decorators of an entity, where the application has the library and uses it. */
import type { Answer } from '../http/at-once.js';
import type { FieldError } from '../http/failure.js';

type Validate = (entity: object) => Promise<FieldError[]>;

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

/**
 * Whether any decorator of the library has run in this process: the first one makes the list of them all, which the
 * library keeps here so that several copies of it share one. To load it for an application that does not use it would
 * take a tenth of a second of its start.
 */
const isUsed = (): boolean => 'classValidatorMetadataStorage' in globalThis;

/** @returns `undefined` where the entity has no such decorators */
export const classValidationOf = (target: unknown): Answer<Validate | undefined> =>
  isUsed() ? validationOf(target) : undefined;

async function validationOf(target: unknown): Promise<Validate | undefined> {
  const library = await load();
  if (!library || library.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false).length === 0)
    return undefined;
  return async (entity) =>
    (
      await library.validate(entity, { forbidUnknownValues: false, validationError: { target: false, value: false } })
    ).flatMap((error) => fieldErrors(error, []));
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
  const here = [...path, property];
  return [
    ...Object.values(constraints).map((message) => ({ field: here.join('.'), message })),
    ...children.flatMap((child) => fieldErrors(child, here)),
  ];
}
