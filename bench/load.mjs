/** Requests over kept connections, for a time: by wrk, and where there is none by autocannon. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasWrk, LOAD_CORE, pinned, sleepless } from './machine.mjs';
import { BENCH } from './paths.mjs';

export const CONNECTIONS = 48;

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-load-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** @returns requests, seconds, refused (status of 400 and more), broken (no answer), and p50, p99, max in milliseconds */
export function load(origin, requests, seconds, connections = CONNECTIONS) {
  return hasWrk ? wrk(origin, requests, seconds, connections) : autocannon(origin, requests, seconds, connections);
}

async function wrk(origin, requests, seconds, connections) {
  const file = join(folder, 'requests');
  writeFileSync(file, requests.map((request) => `${asText(request)}\n--next--\n`).join(''));
  const settings = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', join(BENCH, 'replay.lua')];
  const [command, ...args] = pinned(LOAD_CORE, ['wrk', ...settings, origin, '--', file]);
  const { stdout } = await run(command, args, { env: { ...process.env, ...sleepless } });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1));
}

function asText({ method, path, headers = {}, body }) {
  const all = { Host: '127.0.0.1', ...headers, ...(body && { 'Content-Length': Buffer.byteLength(body) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

async function autocannon(origin, requests, seconds, connections) {
  const { default: cannon } = await import('autocannon');
  let turn = 0;
  const result = await cannon({
    url: origin,
    connections,
    duration: seconds,
    // Every connection would send all of them: each gets its share.
    setupClient(client) {
      const share = requests.filter((_, index) => index % connections === turn % connections);
      turn += 1;
      client.setRequests(share.length > 0 ? share : requests);
    },
  });
  const { p50, p99, max } = result.latency;
  return {
    requests: result.requests.total,
    seconds: result.duration,
    refused: result['4xx'] + result['5xx'],
    broken: result.errors,
    p50,
    p99,
    max,
  };
}
