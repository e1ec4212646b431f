/** Which files `app.useStaticAssets` could serve on Express, so that a path without one stays unknown. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface StaticFiles {
  readonly folder: string;
  readonly extensions: readonly string[];
}

/** @param args of `useStaticAssets(folder, { extensions })` */
export function staticFilesOf([folder, options]: readonly unknown[]): StaticFiles | undefined {
  const { extensions } = (options ?? {}) as { extensions?: unknown };
  if (typeof folder !== 'string') return undefined;
  return { folder, extensions: Array.isArray(extensions) ? extensions.map(String) : [] };
}

/** As serve-static looks: decoded once, with one of the extensions where there are some. */
export function hasFile({ folder, extensions }: StaticFiles, path: string): boolean {
  try {
    const file = join(folder, decodeURIComponent(path));
    return [file, ...extensions.map((extension) => `${file}.${extension}`)].some((each) => existsSync(each));
  } catch {
    // What cannot be read may be anything.
    return true;
  }
}
