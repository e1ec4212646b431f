// Follows "Write one file" of docs/learn/getting-started.md in an empty folder, as a new user does, with the package built in dist/.
import { execFileSync, execSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { freePort } from './free-port.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'declarest-quick-start-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const [, section] = readFileSync(join(ROOT, 'docs/learn/getting-started.md'), 'utf8').split('\n## Write one file\n');
const block = (language) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(section)[1];
const [, compile, start] = /Compile and start it with `(.+) && (.+)`/.exec(section);
const run = (commands) => execSync(`set -ex\n${commands}`, { cwd: folder, stdio: 'inherit' });

const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT });
const tarball = `./${Object.values(JSON.parse(packed))[0].filename}`;
run(block('text').replace('npm install declarest ', `npm install ${tarball} `));
writeFileSync(join(folder, 'main.ts'), block('ts'));
run(compile);

const port = await freePort();
const app = spawn('sh', ['-c', `exec ${start}`], {
  cwd: folder,
  env: { ...process.env, PORT: port },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const json = { email: 'ann@example.com', password: 'correct horse battery' };
  expectStatus(201, await send('POST', '/api/auth/register', json));
  const { data } = await (await send('POST', '/api/auth/login', json)).json();
  const lamp = { name: 'Lamp', price: 12.5 };
  expectStatus(401, await send('POST', '/api/products', lamp));
  expectStatus(201, await send('POST', '/api/products', lamp, data.token));
  expectStatus(200, await send('GET', '/api/products/1'));
  expectStatus(403, await send('DELETE', '/api/products/1', undefined, data.token));
  console.log(`The application of docs/learn/getting-started.md works on Node ${process.versions.node}.`);
} finally {
  app.kill();
}

/** Waits until the application listens. */
async function send(method, path, json, token) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const options = { method, headers, ...(json && { body: JSON.stringify(json) }) };
  for (;;) {
    try {
      return await fetch(`http://127.0.0.1:${port}${path}`, options);
    } catch (error) {
      if (app.exitCode !== null || app.signalCode !== null) throw error;
      await setTimeout(100);
    }
  }
}

function expectStatus(expected, { status, url }) {
  if (status !== expected) throw new Error(`${url} must respond with ${expected}, got ${status}.`);
}
