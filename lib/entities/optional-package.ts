import { createRequire } from 'node:module';

/** An optional peer dependency, or a file of it; `undefined` where it is not installed. */
export function requireOptional<T>(name: string): T | undefined {
  try {
    return createRequire(import.meta.url)(name) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
