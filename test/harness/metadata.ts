/** Says of a function all that is said of another one, as many a decorator does of what it puts in the place of a method. */
export function copyMetadata(from: object, to: object): void {
  for (const key of Reflect.getMetadataKeys(from) as unknown[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, from), to);
}
