// Writes the files of the new application, all of them or none.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Files } from './application-files.js';
import { UsageError } from './usage-error.js';

/** @throws {UsageError} when the folder is not empty, or cannot be written */
export function writeApplication(folder: string, files: Files): void {
  assertEmpty(folder);
  const created: string[] = [];
  try {
    const first = mkdirSync(folder, { recursive: true });
    if (first) created.push(first);
    for (const [path, text] of files) {
      const target = join(folder, path);
      const parent = mkdirSync(dirname(target), { recursive: true });
      created.push(parent ?? target);
      // Only the owner may read the secret.
      writeFileSync(target, text, { flag: 'wx', mode: path === '.env' ? 0o600 : 0o666 });
    }
  } catch (cause) {
    for (const path of created.toReversed()) rmSync(path, { recursive: true, force: true });
    throw cannotWrite(folder, cause);
  }
}

function assertEmpty(folder: string): void {
  try {
    if (!statSync(folder, { throwIfNoEntry: false })) return;
    // A repository may exist before its first file.
    if (readdirSync(folder).every((name) => name === '.git')) return;
  } catch (cause) {
    throw cannotWrite(folder, cause);
  }
  throw new UsageError(`${JSON.stringify(folder)} is not empty: give a new or an empty folder.`);
}

function cannotWrite(folder: string, cause: unknown): UsageError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = REASONS[code ?? ''] ?? `${message}; give another folder`;
  return new UsageError(`Cannot write to ${JSON.stringify(folder)}: ${reason}.`, { cause });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; change its permissions, or give another folder',
  EPERM: 'permission denied; change its permissions, or give another folder',
  EROFS: 'the file system is read-only; give a folder elsewhere',
  ENOSPC: 'no space is left; free some, or give a folder elsewhere',
  ENOTDIR: 'a part of the path is a file; give another folder',
  EEXIST: 'a part of the path is a file; give another folder',
};
