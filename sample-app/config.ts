import { isIP } from 'node:net';

import { StartError } from './start-error.js';

/** The configuration of the shop. Only this file reads the environment. */
export interface Config {
  readonly port: number;
  readonly database: string;
  readonly jwtSecret: string | undefined;
  readonly shopOrigin: string;
  readonly mailUrl: string | undefined;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
  /** Whether users may have a second factor, passkeys and API keys, as the admin example shows. */
  readonly loginPlugins: boolean;
  /** The proxies whose `X-Forwarded-For` counts, as Express's setting `trust proxy` takes them. */
  readonly trustProxy: string | false;
}

export const CONFIG = Symbol('CONFIG');

type Environment = Readonly<Record<string, string | undefined>>;

interface Variable<T> {
  readonly name: string;
  /** Completes the sentence "<name> must be …". */
  readonly expected: string;
  readonly advice: string;
  /** @returns the value, or `undefined` when the text is not valid */
  readonly parse: (text: string) => T | undefined;
  /** How an invalid text is printed. Secrets are only described. */
  readonly show?: (text: string) => string;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
const describeSecret = (text: string): string => `a text of ${bytesOf(text)} bytes`;

const PORT: Variable<number> = {
  name: 'PORT',
  expected: 'a whole number from 0 to 65535',
  advice: 'Use 0 for any free port.',
  parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
};

const DATABASE: Variable<string> = {
  name: 'DATABASE',
  expected: 'the path of a file',
  advice: 'Leave it out to use data/shop.db. It may be the URL of a server of PostgreSQL or MariaDB too.',
  parse: (text) => (text.includes('\0') || text.endsWith('/') ? undefined : text),
};

const JWT_SECRET: Variable<string> = {
  name: 'JWT_SECRET',
  expected: 'a text of at least 32 bytes',
  advice: 'Create one with `openssl rand -base64 48`.',
  parse: (text) => (bytesOf(text) >= 32 ? text : undefined),
  show: describeSecret,
};

const SHOP_ORIGIN: Variable<string> = {
  name: 'SHOP_ORIGIN',
  expected: 'an origin',
  advice: 'An origin has a scheme and a host but no path, for example https://shop.example.',
  parse: (text) => (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text ? text : undefined),
};

const MAIL_URL: Variable<string> = {
  name: 'MAIL_URL',
  expected: 'an HTTP URL',
  advice: 'The shop sends mails there as JSON, for example to https://mail.example/send.',
  parse: (text) => (/^https?:/.test(text) && URL.canParse(text) ? text : undefined),
  // It may contain a key.
  show: describeSecret,
};

const ADMIN_EMAIL: Variable<string> = {
  name: 'ADMIN_EMAIL',
  expected: 'an e-mail address',
  advice: 'Leave it out to use admin@shop.example.',
  parse: (text) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) && text.length <= 254 ? text : undefined),
};

const ADMIN_PASSWORD: Variable<string> = {
  name: 'ADMIN_PASSWORD',
  expected: 'a text of at least 8 characters and at most 72 bytes',
  advice: 'Leave it out to get a generated password.',
  parse: (text) => ([...text].length >= 8 && bytesOf(text) <= 72 ? text : undefined),
  show: describeSecret,
};

const LOGIN_PLUGINS: Variable<boolean> = {
  name: 'LOGIN_PLUGINS',
  expected: '"on" or "off"',
  advice: 'With "on", users may have a second factor, passkeys and API keys.',
  parse: (text) => ({ on: true, off: false })[text],
};

const PROXY = /^(loopback|linklocal|uniquelocal)$/;
const isProxy = (text: string): boolean => {
  const [address = '', bits = '0', ...more] = text.split('/');
  return PROXY.test(text) || (isIP(address) > 0 && /^\d{1,3}$/.test(bits) && more.length === 0);
};

const TRUST_PROXY: Variable<string> = {
  name: 'TRUST_PROXY',
  expected: 'addresses of proxies, separated by commas',
  advice: 'For example 10.0.0.0/8, 192.0.2.7, loopback or uniquelocal. Leave it out without a proxy.',
  parse: (text) => (text.split(',').every((each) => isProxy(each.trim())) ? text : undefined),
};

/** In production. */
const REQUIRED = [JWT_SECRET, SHOP_ORIGIN, MAIL_URL];

/**
 * Reads and checks the configuration. An empty variable counts as not set. In production, JWT_SECRET, SHOP_ORIGIN
 * and MAIL_URL are required.
 *
 * @throws {StartError} naming all required variables that are missing, or one that is not valid
 */
export function readConfig(environment: Environment): Config {
  const required = environment['NODE_ENV'] === 'production' ? REQUIRED : [];
  const missing = required.filter(({ name }) => !environment[name]);
  if (missing.length > 0)
    throw new StartError(
      missing
        .map(({ name, expected, advice }) => `${name} must be ${expected} in production, got nothing. ${advice}`)
        .join('\n'),
    );
  const read = <T>({ name, expected, advice, parse, show = JSON.stringify }: Variable<T>): T | undefined => {
    const text = environment[name];
    if (text === undefined || text === '') return undefined;
    const value = parse(text);
    if (value === undefined) throw new StartError(`${name} must be ${expected}, got ${show(text)}. ${advice}`);
    return value;
  };
  return Object.freeze({
    port: read(PORT) ?? 3000,
    database: read(DATABASE) ?? 'data/shop.db',
    jwtSecret: read(JWT_SECRET),
    shopOrigin: read(SHOP_ORIGIN) ?? 'http://localhost:5173',
    mailUrl: read(MAIL_URL),
    adminEmail: read(ADMIN_EMAIL) ?? 'admin@shop.example',
    adminPassword: read(ADMIN_PASSWORD),
    loginPlugins: read(LOGIN_PLUGINS) ?? false,
    trustProxy: read(TRUST_PROXY) ?? false,
  });
}
