const DESCRIPTION = Symbol('declarest.override');

/**
 * Marks an operation that a subclass defines itself: `@Get() @OverrideNote('Only what is in stock')`. The description
 * is in the boot log and can be read with `overrideDescription`.
 */
export function OverrideNote(description = ''): MethodDecorator {
  return (_target, _name, descriptor) => {
    Reflect.defineMetadata(DESCRIPTION, description, descriptor.value as object);
  };
}

/** The description of an overridden operation; `undefined` where it is not marked. */
export function overrideDescription(method: object): string | undefined {
  return Reflect.getMetadata(DESCRIPTION, method) as string | undefined;
}
