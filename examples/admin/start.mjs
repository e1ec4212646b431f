// Runs the sample shop and the admin interface until Ctrl-C, and stops both when one of them ends. The first start creates
// a user of each role; the passwords and the secret are for development only.
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const {
  PORT = '3000',
  INTERFACE_PORT = '5173',
  ADMIN_EMAIL = 'admin@shop.example',
  ADMIN_PASSWORD = 'change this password',
  // Second factors are encrypted by a key from it, so it stays the same at the next start.
  JWT_SECRET = 'for development only: the secret of the example',
} = process.env;
const address = `http://localhost:${INTERFACE_PORT}`;
const shop = `http://localhost:${PORT}`;
const env = {
  ...process.env,
  PORT,
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  JWT_SECRET,
  LOGIN_PLUGINS: 'on',
  SHOP_ORIGIN: address,
  VITE_SHOP_URL: `${shop}/api`,
};

const start = (folder, ...args) =>
  spawn(process.execPath, args, { cwd: fileURLToPath(new URL(folder, import.meta.url)), env, stdio: 'inherit' });
const running = [
  start('../..', 'sample-app/dist/main.js'),
  start('.', 'node_modules/vite/bin/vite.js', '--port', INTERFACE_PORT, '--strictPort'),
];

const stop = () => running.forEach((child) => child.kill('SIGINT'));
let hasEnded = false;
for (const child of running)
  child.on('exit', (code) => {
    hasEnded = true;
    process.exitCode ||= code ?? 0;
    stop();
  });
process.on('SIGINT', stop);
process.on('SIGTERM', stop);

const JSON_HEADER = 'Content-Type: application/json';
const [STAFF, USER] = ['staff@shop.example', 'user@shop.example'];

/** The body of the answer; `undefined` for a failure. */
async function post(path, body, { method = 'POST', token } = {}) {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${shop}/api${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return answer.ok ? answer.json() : undefined;
}

async function isUp(url) {
  for (;;) {
    if (hasEnded) return false;
    try {
      await fetch(url);
      return true;
    } catch {
      await setTimeout(100);
    }
  }
}

/** A user that exists keeps its password. */
async function createUsers() {
  const admin = await post('/auth/login', { email: ADMIN_EMAIL, password: ADMIN_PASSWORD });
  for (const email of [STAFF, USER]) {
    const created = await post('/auth/register', { email, password: ADMIN_PASSWORD });
    const staff = `/admin/staff/${created?.data.user.id}`;
    if (created && email === STAFF) await post(staff, undefined, { method: 'PUT', token: admin?.data.token });
  }
}

if ((await isUp(`${shop}/api/products`)) && (await isUp(address))) {
  await createUsers();
  const login = JSON.stringify({ email: STAFF, password: ADMIN_PASSWORD });
  const pick = `sed 's/.*"token":"\\([^"]*\\)".*/\\1/'`;
  console.log(`
Interface: ${address}
Document:  ${shop}/docs
ADMIN:     ${ADMIN_EMAIL}, password "${ADMIN_PASSWORD}" (of the first start, as the others)
STAFF:     ${STAFF}, password "${ADMIN_PASSWORD}"
USER:      ${USER}, password "${ADMIN_PASSWORD}"
curl -g '${shop}/api/products?filter[price][lt]=10&sort=price'
TOKEN=$(curl -s ${shop}/api/auth/login -H '${JSON_HEADER}' -d '${login}' | ${pick})
curl -X PATCH ${shop}/api/products/1 -H '${JSON_HEADER}' -H "Authorization: Bearer $TOKEN" -d '{"stock":11}'
Press Ctrl-C to stop both.`);
}
