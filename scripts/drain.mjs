// Restarts two instances behind nginx and behind HAProxy in turn, three times, while 200 requests arrive each second: none
// may be lost, writes included, nor one that takes longer than the readiness check waits. An instance with a request and a
// connection that never end must end within its limit. Needs nginx and haproxy.
//
//     npm run test:drain
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const SERVICE = fileURLToPath(new URL('drain/service.mjs', import.meta.url));
const RESTARTS = 3;
const PER_SECOND = 200;
/** Longer than the readiness check of service.mjs waits. */
const SLOW_MS = 3_000;
/** From the signal: 2 s of the readiness check, and 20 s for requests in flight. */
const LIMIT_MS = 22_000;

const folder = mkdtempSync(join(tmpdir(), 'declarest-drain-'));
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** @param keepAlive the directive of `upstream`. Without it, each request has a connection of its own. */
const nginx =
  (keepAlive = '') =>
  (port, servers) => {
    const file = join(folder, 'nginx.conf');
    const upstream = servers.map((server) => `server 127.0.0.1:${server} max_fails=0;`).join(' ');
    writeFileSync(
      file,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr crit; events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  upstream service { ${upstream} ${keepAlive} }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}`,
    );
    return ['nginx', '-p', folder, '-c', file];
  };

const PROXIES = {
  nginx: nginx('keepalive 16;'),
  'nginx without keepalive': nginx(),
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

/** Sends a GET, or a POST of JSON. @returns what went wrong */
function send(agent, port, path, json) {
  const [method, status] = json ? ['POST', 201] : ['GET', 200];
  const headers = json ? { 'Content-Type': 'application/json' } : {};
  return new Promise((resolve) => {
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.resume();
      response.on('error', (error) => resolve(`${method}: ${error.message}`));
      const wrong = response.statusCode === status ? undefined : `${method}: ${response.statusCode}`;
      response.on('end', () => resolve(wrong));
    });
    sent.on('error', (error) => resolve(`${method}: ${error.message}`));
    sent.end(json && JSON.stringify(json));
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
  const sendNext = () => {
    const { length } = answers;
    answers.push(send(agent, port, '/notes', length % 4 === 0 ? { text: `note ${length}` } : undefined));
  };
  const timer = setInterval(sendNext, 1_000 / PER_SECOND);
  for (let round = 0; round < RESTARTS; round += 1)
    for (const [index, own] of ports.entries()) {
      const ended = once(instances[index], 'exit');
      answers.push(send(agent, own, `/slow?ms=${SLOW_MS}`));
      await wait(100);
      instances[index].kill('SIGTERM');
      await ended;
      instances[index] = await startInstance(platform, own);
      // HAProxy asks five times a second.
      await wait(2_000);
    }
  clearInterval(timer);
  const lost = (await Promise.all(answers)).filter((answer) => answer !== undefined);
  agent.destroy();
  // A master of nginx that is killed leaves its workers.
  balancer.kill('SIGTERM');
  for (const child of instances) child.kill('SIGKILL');
  const counts = Object.entries(Object.groupBy(lost, (answer) => answer)).map(([what, all]) => `${all.length} ${what}`);
  console.log(
    `${platform} behind ${proxy}: ${answers.length} requests, ${lost.length} lost${counts.map((each) => `; ${each}`).join('')}.`,
  );
  return lost.length;
}

/** A connection without a request, as browsers open in advance, and a request that never ends. */
async function endWithinLimit(platform) {
  const port = await freePort();
  const instance = await startInstance(platform, port);
  const silent = connect(port, '127.0.0.1').on('error', () => undefined);
  const endless = send(undefined, port, '/slow?ms=600000');
  await wait(100);
  const start = performance.now();
  const ended = once(instance, 'exit');
  instance.kill('SIGTERM');
  await ended;
  const ms = Math.round(performance.now() - start);
  silent.destroy();
  console.log(`${platform} with a request that never ends: ${ms} ms from the signal to the end; ${await endless}.`);
  assert.ok(ms > LIMIT_MS - 1_000 && ms < LIMIT_MS + 3_000);
}

const platforms = process.argv.length > 2 ? process.argv.slice(2) : ['express', 'fastify'];
let lost = 0;
for (const proxy of Object.keys(PROXIES))
  for (const platform of platforms) lost += await restartUnderLoad(platform, proxy);
assert.equal(lost, 0);
for (const platform of platforms) await endWithinLimit(platform);
process.exit(0);
