// Reads the environment. A variable that is already set overrides .env, and an empty one counts as not set.
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile();

const { env } = process;
const isTest = env['NODE_ENV'] === 'test';
export const isProduction = env['NODE_ENV'] === 'production';

const required = ['JWT_SECRET']; // {{REQUIRED}}
const missing = isProduction ? required.filter((name) => !env[name]) : [];
if (missing.length > 0) {
  console.error(`Set ${missing.join(', ')} in the environment: README.md describes what production needs.`);
  process.exit(1);
}

export const port = Number(env['PORT'] || 3000);
/** At the signal to stop, `/readyz` is 503 for this time, so that load balancers send no more requests. */
export const drainMs = isProduction ? 5_000 : 0;
export const jwtSecret = env['JWT_SECRET'] || undefined;
/** The origin whose pages may call the service from a browser. In production there is none unless the variable is set. */
export const frontEndOrigin = env['FRONT_END_ORIGIN'] || (isProduction ? undefined : 'http://localhost:5173');
/** Proxies whose X-Forwarded-For counts: addresses, or names such as "loopback". Without it, all clients behind one are one. */
export const trustProxy = env['TRUST_PROXY'] || false;
export const database = isTest ? ':memory:' : env['DATABASE_FILE'] || 'data/{{NAME}}.db'; // {{DATABASE}}

/** NIST SP 800-63B-4: a password that is the only factor has at least 15 characters. */
export const passwordPolicy = { minLength: 15 };
