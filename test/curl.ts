import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of curl that the sample and the README use. */
const STAND_IN = `#!/usr/bin/env node
const headers = {};
let method, body, url, head = false;
for (const rest = process.argv.slice(2); rest.length > 0;) {
  const word = rest.shift();
  if (word === '-X') method = rest.shift();
  else if (word === '-d') body = rest.shift();
  else if (word === '-H') {
    const [name, ...value] = rest.shift().split(': ');
    headers[name] = value.join(': ');
  }
  else if (word === '-i') head = true;
  else if (word !== '-s' && word !== '-g') url = word;
}
fetch(url, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body }).then(async (answer) => {
  if (head) process.stdout.write(['HTTP/1.1 ' + answer.status, ...[...answer.headers].map((pair) => pair.join(': '))].join('\\n') + '\\n\\n');
  process.stdout.write(await answer.text());
});
`;

/** A `PATH` with curl: the one of this machine, or a replacement that is written into this directory. */
export function pathWithCurl(directory: string): string {
  const path = process.env['PATH'] ?? '';
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return path;
  } catch {
    const bin = join(directory, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'curl'), STAND_IN);
    chmodSync(join(bin, 'curl'), 0o755);
    return `${bin}:${path}`;
  }
}
