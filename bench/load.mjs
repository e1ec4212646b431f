/** Load from wrk: requests over kept connections, on a core of its own. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const CONNECTIONS = 48;
const [SERVER_CORE = '0', LOAD_CORE = '1'] = (process.env.BENCH_CORES ?? '0,1').split(',');

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-load-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** wrk exits with 1 after it has printed its version. */
function isInstalled(command) {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return error.code !== 'ENOENT';
  }
}

if (!isInstalled('wrk')) throw new Error('The benchmark needs wrk: apt-get install wrk.');
const canPin = availableParallelism() > 1 && isInstalled('taskset');
const pin = (core, command) => (canPin ? ['taskset', '-c', core, ...command] : command);
export const onServerCore = (command) => pin(SERVER_CORE, command);

export const describeMachine = () =>
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
  (canPin ? `server on core ${SERVER_CORE}, wrk on core ${LOAD_CORE}` : 'processes not bound to cores');

/** @returns requests, seconds, refused (status 400 and more), broken (no response) */
export async function load(origin, requests, seconds, connections) {
  const file = join(folder, 'requests');
  writeFileSync(file, requests.map((request) => `${toText(request)}\n--next--\n`).join(''));
  const settings = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s'];
  const script = ['-s', join(import.meta.dirname, 'replay.lua'), origin, '--', file];
  const [command, ...args] = pin(LOAD_CORE, ['wrk', ...settings, ...script]);
  const { stdout } = await run(command, args);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1));
}

function toText({ method, path, headers = {}, body }) {
  const all = { Host: '127.0.0.1', ...headers, ...(body && { 'Content-Length': Buffer.byteLength(body) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
