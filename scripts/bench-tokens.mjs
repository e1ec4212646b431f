// What a token costs: microseconds to verify it, without and with the cache, and bytes to keep it.
//
//     npm run bench:tokens
//
// Against the compiled package, one call after the other, in passes that are taken in turn; the medians are printed.
// Nothing is asserted: the numbers depend on the machine.
import 'reflect-metadata';
import { createHmac, createSecretKey } from 'node:crypto';
import { JwtService } from '@nestjs/jwt';
import { Tokens } from '../build/auth/tokens.js';

const SECRET = 'a-benchmark-secret-of-more-than-32-bytes';
const PASSES = 7;
const CALLS = 30_000;
const KEPT = 10_000;

const tokens = (tokenCacheSize) => new Tokens({ jwtSecret: SECRET, jwtExpirationHours: 24, tokenCacheSize });
const user = (sub, roles = ['USER']) => ({ sub: String(sub), email: 'ann.lee@example.com', roles });
const [none, cached, small] = [tokens(0), tokens(1_000), tokens(100)];

const jwt = new JwtService();
const secret = createSecretKey(Buffer.from(SECRET));
const token = await none.sign(user(1));
// More than the small cache holds, one after the other: none is found.
const strangers = await Promise.all(Array.from({ length: 1_000 }, (_, index) => none.sign(user(index))));

/** Microseconds of a call, each with its own passes. */
const costs = medians({
  'jsonwebtoken, with a key made once': () => jwt.verify(token, { secret, algorithms: ['HS256'] }),
  'without a cache': () => none.verify(token),
  'with the cache': () => cached.verify(token),
  'with a cache that never has it': (index) => small.verify(strangers[index % strangers.length]),
  'a refusal: signed with another key': () => none.verify(`${token.slice(0, -43)}${'A'.repeat(43)}`),
});
console.log(`Microseconds to verify a token of ${token.length} letters; Node ${process.version}`);
console.table(Object.fromEntries(Object.entries(costs).map(([name, us]) => [name, { us: Number(us.toFixed(2)) }])));

console.log(`Bytes of memory for each of ${KEPT} tokens that are kept`);
console.table({
  'one role': await bytesOf((index) => none.sign(user(index))),
  'one role, behind 8,000 spaces': await bytesOf((index) => none.sign(user(index)), ' '.repeat(8_000)),
  '1,024 letters, one long claim': await bytesOf((index) => longest(index, 'x'.repeat(655))),
  '1,024 letters, all roles': await bytesOf((index) => longest(index, '', rolesFor(index))),
});

function medians(cases) {
  const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let pass = 0; pass < PASSES; pass += 1)
    for (const [name, call] of Object.entries(cases)) {
      const start = performance.now();
      for (let index = 0; index < CALLS; index += 1) call(index);
      times[name].push(((performance.now() - start) * 1_000) / CALLS);
    }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, middleOf(list)]));
}

function middleOf(list) {
  return list.toSorted((a, b) => a - b)[list.length >> 1];
}

/** As they come from a request: each a part of a header of its own. */
async function bytesOf(tokenOf, padding = ' ') {
  const cache = tokens(KEPT);
  cache.verify(await tokenOf(0));
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  let letters = 0;
  for (let index = 0; index < KEPT; index += 1) {
    const header = Buffer.from(`Bearer${padding}${await tokenOf(index)}`).toString();
    const sent = /^Bearer +(?<token>\S+)$/.exec(header).groups.token;
    letters = Math.max(letters, sent.length);
    if (!cache.verify(sent)) throw new Error('The token was expected to be valid');
  }
  globalThis.gc();
  const bytes = Math.round((process.memoryUsage().heapUsed - before) / KEPT);
  if (!cache.verify(await tokenOf(1))) throw new Error('The cache has to be alive until here');
  return { letters, bytes };
}

/** As many short roles, no two alike, as a token that is still kept has room for. */
function rolesFor(index) {
  return Array.from({ length: 93 }, (_, role) => (46_656 + ((index * 93 + role) % 1_600_000)).toString(36));
}

function longest(sub, email, roles = ['USER']) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ sub: String(sub), email, roles, exp: 9_999_999_999 })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
