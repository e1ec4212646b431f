/** Thrown when a declaration is wrong. The message names the option, what it must be, what was given, and what to do. */
export class InvalidOptionError extends TypeError {
  override readonly name = 'InvalidOptionError';

  /** @param got made by `describe` @param advice a sentence without its period */
  constructor(path: string, expected: string, got: string, advice: string) {
    const sentence = `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;
    super(`${path} must be ${expected}, got ${got}. ${sentence.replace(/\.?$/, '.')}`);
  }

  /** For problems that "must be …, got …" would hide. @param message the problem, and what to do */
  static withMessage(message: string): InvalidOptionError {
    return Object.assign(new InvalidOptionError('', '', '', ''), { message });
  }
}

/** `"abc"` for a string, `5` for a number, `an array of 3` … for messages. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : JSON.stringify(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'function') return value.name === '' ? 'a function' : `\`${value.name}\``;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** @throws InvalidOptionError for anything but an object, and for an unknown name, listing the known ones */
export function expectKnownNames(path: string, options: unknown, known: readonly string[]): void {
  const names = known.join(', ');
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new InvalidOptionError(path, 'an object of options', describe(options), `its options are ${names}`);
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const got = unknown.map(describe).join(', ');
  throw new InvalidOptionError(path, `an object with only the options ${names}`, got, 'correct or remove it');
}

/** Only classes and functions of the old kind have a prototype of their own. */
export function isClass(value: unknown): value is abstract new (...args: never[]) => object {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}

export const isProduction = (): boolean => process.env['NODE_ENV'] === 'production';
export const areNames = (names: unknown): boolean =>
  Array.isArray(names) && names.every((name) => typeof name === 'string' && name.trim() !== '');
export const areSomeNames = (names: unknown): boolean => areNames(names) && (names as unknown[]).length > 0;
