// Runs the built sample shop for a script, with an administrator.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../sample-app/dist/main.js', import.meta.url));
export const ADMIN = { ADMIN_EMAIL: 'boss@shop.example', ADMIN_PASSWORD: 'the boss of the shop' };

/**
 * Starts the shop on a free port, calls `use` with its address, and ends it.
 *
 * @param folder where the shop creates its database
 */
export async function withShop(folder, use) {
  const env = { ...process.env, PORT: '0', ...ADMIN };
  const shop = spawn(process.execPath, [MAIN], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let output = '';
    let url;
    for await (const chunk of shop.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk;
      [, url] = /The shop is up at (\S+)/.exec(output) ?? [];
      if (url) break;
    }
    assert(url, `The shop did not start: ${output}`);
    shop.stdout.resume();
    await use(url);
  } finally {
    const ended = once(shop, 'exit');
    shop.kill('SIGINT');
    await ended;
  }
}
