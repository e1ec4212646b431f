import { createWriteStream } from 'node:fs';
import { mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FileStorage, StoredObject } from './file-storage.js';

/**
 * Keeps files in a folder, which is created with the first one. Give each application a folder of its own.
 * @example FileCrudController({ entity: Ticket, endpoint: '/api/tickets' }, diskStorage('uploads'))
 */
export function diskStorage(folder: string): FileStorage {
  const root = resolve(folder);
  const pathOf = (key: string): string => {
    const path = join(root, key);
    // The key comes from a column, which other programs may write too.
    if (!path.startsWith(root + sep)) throw new TypeError(`${JSON.stringify(key)} is not the key of a file`);
    return path;
  };
  return {
    async write(key, bytes) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true });
      await pipeline(bytes, createWriteStream(path, { flags: 'wx', flush: true }));
    },
    async read(key, range) {
      const file = await open(pathOf(key)).catch(unlessMissing);
      return file?.createReadStream(range);
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async *list(prefix): AsyncGenerator<StoredObject> {
      const entries = await opendir(pathOf(prefix)).catch(unlessMissing);
      for await (const { name } of entries ?? []) {
        const key = prefix + name;
        const found = await stat(pathOf(key)).catch(unlessMissing);
        if (found?.isFile()) yield { key, changedAt: found.mtime };
      }
    },
  };
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
