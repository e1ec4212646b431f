// Folders with generators of clients, which have a lock file of their own.
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs the packages of a folder.
 *
 * @returns a function that runs one of their commands, in this folder or another one
 */
export function clientFolder(folder) {
  const npm = ['ci', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefer-offline'];
  execFileSync('npm', npm, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return async (name, args = [], cwd = folder) => {
    try {
      await run(join(folder, 'node_modules', '.bin', name), args, { cwd });
    } catch (cause) {
      throw new Error(`${name} ${args.join(' ')}\n${cause.stdout}${cause.stderr}`, { cause });
    }
  };
}
