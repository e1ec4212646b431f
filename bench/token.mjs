/** Tokens as declarest issues them. */
import { createHmac } from 'node:crypto';
import { SECRET } from './dist/settings.js';

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function token(hours) {
  const iat = Math.floor(Date.now() / 1000) - 7200;
  const claims = { sub: '1', email: 'ann@shop.example', roles: ['USER'], iat, exp: iat + 7200 + hours * 3600 };
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}
