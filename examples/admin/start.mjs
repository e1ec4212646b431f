// Runs the sample shop and the admin interface until Ctrl-C, and stops both when one of them ends.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const {
  PORT = '3000',
  INTERFACE_PORT = '5173',
  ADMIN_EMAIL = 'admin@shop.example',
  ADMIN_PASSWORD = 'change this password',
} = process.env;
const address = `http://localhost:${INTERFACE_PORT}`;
const env = {
  ...process.env,
  PORT,
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  SHOP_ORIGIN: address,
  VITE_SHOP_URL: `http://localhost:${PORT}/api`,
};

const start = (folder, ...args) =>
  spawn(process.execPath, args, { cwd: fileURLToPath(new URL(folder, import.meta.url)), env, stdio: 'inherit' });
const running = [
  start('../..', 'sample-app/dist/main.js'),
  start('.', 'node_modules/vite/bin/vite.js', '--port', INTERFACE_PORT, '--strictPort'),
];
console.log(`Log in at ${address} as ${ADMIN_EMAIL}. The first start sets the password "${ADMIN_PASSWORD}".`);

const stop = () => running.forEach((child) => child.kill('SIGINT'));
for (const child of running)
  child.on('exit', (code) => {
    process.exitCode ||= code ?? 0;
    stop();
  });
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
