import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyData } from './data.mjs';
import { load } from './load.mjs';
import { PRODUCT_OPERATIONS } from './operations.mjs';
const [build, file, adapter, opname, seconds = '12'] = process.argv.slice(2);
const node = 'node_modules/node/bin/node';
const db = copyData('prof');
const child = spawn('taskset', ['-c', '0', node, '--require', '/tmp/prof/exit.cjs', '--allow-natives-syntax', `dist/${build}/${file}.js`], {
  env: { ...process.env, NODE_ENV: 'production', BENCH_ADAPTER: adapter, BENCH_DATABASE: db }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
const [{ port }] = await once(child, 'message');
const op = PRODUCT_OPERATIONS[opname];
const r = await load(`http://127.0.0.1:${port}`, op.requests({}), Number(seconds));
console.log(r.requests / r.seconds, r);

setTimeout(() => child.kill('SIGUSR2'), 300);
await once(child, 'exit');
process.exit(0);
