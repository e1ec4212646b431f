import { StartError } from './start-error.js';

/** Everything that can be set from outside. Only this file reads the environment. */
export interface Config {
  readonly port: number;
  readonly database: string;
  readonly jwtSecret: string | undefined;
  readonly shopOrigin: string;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
}

export const CONFIG = Symbol('CONFIG');

type Environment = Readonly<Record<string, string | undefined>>;

interface Variable<T> {
  readonly name: string;
  readonly expected: string;
  /** The value that the text stands for, or `undefined` when it stands for none. */
  readonly parse: (text: string) => T | undefined;
  /** How a wrong text is shown. Secrets are described instead. */
  readonly show?: (text: string) => string;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
const described = (text: string): string => `one of ${bytesOf(text)} bytes`;

const PORT: Variable<number> = {
  name: 'PORT',
  expected: 'a whole number from 0 to 65535 (0 takes any free port)',
  parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
};

const DATABASE: Variable<string> = {
  name: 'DATABASE',
  expected: 'the path of a file',
  parse: (text) => (text.includes('\0') || text.endsWith('/') ? undefined : text),
};

const JWT_SECRET: Variable<string> = {
  name: 'JWT_SECRET',
  expected: 'at least 32 bytes, as `openssl rand -base64 48` prints them',
  parse: (text) => (bytesOf(text) >= 32 ? text : undefined),
  show: described,
};

const SHOP_ORIGIN: Variable<string> = {
  name: 'SHOP_ORIGIN',
  expected: 'an origin such as https://shop.example, without path or slash at its end',
  parse: (text) => (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text ? text : undefined),
};

const ADMIN_EMAIL: Variable<string> = {
  name: 'ADMIN_EMAIL',
  expected: 'an e-mail address',
  parse: (text) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) && text.length <= 254 ? text : undefined),
};

const ADMIN_PASSWORD: Variable<string> = {
  name: 'ADMIN_PASSWORD',
  expected: '8 characters to 72 bytes',
  parse: (text) => ([...text].length >= 8 && bytesOf(text) <= 72 ? text : undefined),
  show: described,
};

/**
 * The checked configuration. A variable that is empty counts as not set.
 * In production the two that the world sees or trusts have no default.
 *
 * @throws {StartError} naming the variable, what it must be, and what to do.
 */
export function readConfig(environment: Environment): Config {
  const production = environment['NODE_ENV'] === 'production';
  const read = <T>({ name, expected, parse, show = JSON.stringify }: Variable<T>): T | undefined => {
    const text = environment[name];
    if (text === undefined || text === '') return undefined;
    const value = parse(text);
    if (value === undefined) throw new StartError(`${name}: expected ${expected}, got ${show(text)}.`);
    return value;
  };
  const readOrRefuse = <T>(variable: Variable<T>): T | undefined => {
    const value = read(variable);
    if (value === undefined && production)
      throw new StartError(`${variable.name} is not set: with NODE_ENV=production it must be ${variable.expected}.`);
    return value;
  };
  return Object.freeze({
    port: read(PORT) ?? 3000,
    database: read(DATABASE) ?? 'data/shop.db',
    jwtSecret: readOrRefuse(JWT_SECRET),
    shopOrigin: readOrRefuse(SHOP_ORIGIN) ?? 'http://localhost:5173',
    adminEmail: read(ADMIN_EMAIL) ?? 'admin@shop.example',
    adminPassword: read(ADMIN_PASSWORD),
  });
}
