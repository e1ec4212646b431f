// Restarts two instances behind nginx and behind HAProxy in turn, three times, while 200 requests arrive each second: none may
// be lost, writes included. Needs nginx and haproxy.
//
//     npm run test:drain
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const SERVICE = fileURLToPath(new URL('drain/service.mjs', import.meta.url));
const RESTARTS = 3;
const PER_SECOND = 200;

const folder = mkdtempSync(join(tmpdir(), 'declarest-drain-'));
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const PROXIES = {
  nginx(port, servers) {
    const file = join(folder, 'nginx.conf');
    const upstream = servers.map((server) => `server 127.0.0.1:${server} max_fails=0;`).join(' ');
    writeFileSync(
      file,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr crit; events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  upstream service { ${upstream} keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}`,
    );
    return ['nginx', '-p', folder, '-c', file];
  },
  haproxy(port, servers) {
    const file = join(folder, 'haproxy.cfg');
    const lines = servers.map(
      (server, index) => `  server s${index} 127.0.0.1:${server} check inter 200ms fall 1 rise 1`,
    );
    writeFileSync(
      file,
      `defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 2s
frontend all
  bind 127.0.0.1:${port}
  default_backend service
backend service
  option httpchk GET /readyz
  option redispatch
  http-reuse safe
${lines.join('\n')}
`,
    );
    return ['haproxy', '-db', '-f', file];
  },
};

function start(command, args, env = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function startInstance(platform, port) {
  const child = start(process.execPath, [SERVICE], { PLATFORM: platform, PORT: port });
  await untilReady(port);
  return child;
}

async function untilReady(port) {
  for (let tries = 0; tries < 300; tries += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await wait(100);
  }
  throw new Error(`Nothing is ready at port ${port}.`);
}

/** Sends a read, or every fourth time a write. @returns what went wrong */
function send(agent, port, index) {
  const isWrite = index % 4 === 0;
  const method = isWrite ? 'POST' : 'GET';
  const options = {
    agent,
    port,
    method,
    path: '/notes',
    headers: isWrite ? { 'Content-Type': 'application/json' } : {},
  };
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', ...options }, (response) => {
      response.resume();
      response.on('error', (error) => resolve(`${method}: ${error.message}`));
      const isRight = response.statusCode === (isWrite ? 201 : 200);
      response.on('end', () => resolve(isRight ? undefined : `${method}: ${response.statusCode}`));
    });
    sent.on('error', (error) => resolve(`${method}: ${error.message}`));
    sent.end(isWrite ? JSON.stringify({ text: `note ${index}` }) : undefined);
  });
}

async function restartUnderLoad(platform, proxy) {
  const ports = [await freePort(), await freePort()];
  const port = await freePort();
  const instances = [];
  for (const each of ports) instances.push(await startInstance(platform, each));
  const [command, ...args] = PROXIES[proxy](port, ports);
  const balancer = start(command, args);
  await untilReady(port);
  const agent = new Agent({ keepAlive: true });
  const answers = [];
  const timer = setInterval(() => answers.push(send(agent, port, answers.length)), 1_000 / PER_SECOND);
  for (let round = 0; round < RESTARTS; round += 1)
    for (const [index, own] of ports.entries()) {
      const ended = once(instances[index], 'exit');
      instances[index].kill('SIGTERM');
      await ended;
      instances[index] = await startInstance(platform, own);
      // HAProxy asks five times a second.
      await wait(2_000);
    }
  clearInterval(timer);
  const lost = (await Promise.all(answers)).filter((answer) => answer !== undefined);
  agent.destroy();
  for (const child of [balancer, ...instances]) child.kill('SIGKILL');
  const counts = Object.entries(Object.groupBy(lost, (answer) => answer)).map(([what, all]) => `${all.length} ${what}`);
  console.log(
    `${platform} behind ${proxy}: ${answers.length} requests, ${lost.length} lost${counts.map((each) => `; ${each}`).join('')}.`,
  );
  return lost.length;
}

const platforms = process.argv.length > 2 ? process.argv.slice(2) : ['express', 'fastify'];
let lost = 0;
for (const proxy of Object.keys(PROXIES))
  for (const platform of platforms) lost += await restartUnderLoad(platform, proxy);
assert.equal(lost, 0);
process.exit(0);
