/** Stores the login of the user, and reads the claims of its token. */

/** Where the token is stored: `localStorage`, `sessionStorage`, or an object with the same methods. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** What a login with sessions has beside the token. */
export interface Session {
  /** `undefined` where the browser has it in a cookie. */
  readonly refreshToken?: string | undefined;
  /** When to replace the token, in milliseconds of {@link now}. */
  readonly refreshAt: number;
  /** Base of the endpoints that issued the refresh token, and the only place that it is sent to. */
  readonly authUrl: string;
}

export interface Login {
  readonly token: string;
  /** `undefined` for a server without sessions. */
  readonly session?: Session | undefined;
}

export interface TokenStore {
  readonly key: string;
  read(): Login | undefined;
  write(login: Login): void;
  clear(): void;
}

export interface Claims {
  /** The id of the user, as text. */
  readonly id: string;
  readonly roles: string[];
  /** How the user has logged in (RFC 8176), of servers with `secondFactor()`: `['otp', 'mfa']` after a login with a code. */
  readonly amr?: string[];
}

/** In a page, changes of the system clock have no effect. Pages that share a storage have about the same time. */
export const now = (): number => performance.timeOrigin + performance.now();

/** @param url of the client: an origin that uses several services has a token for each of them */
export function createTokenStore(url: string, storage: TokenStorage): TokenStore {
  const key = `declarest:${url}`;
  return {
    key,
    read: () => parseLogin(storage.getItem(key)),
    write: (login) => storage.setItem(key, login.session ? JSON.stringify(login) : login.token),
    clear: () => storage.removeItem(key),
  };
}

/** A storage of the page, or memory in processes without it. */
export function pageStorage(name: 'localStorage' | 'sessionStorage' = 'localStorage'): TokenStorage {
  const memory = new Map<string, string>();
  const inMemory: TokenStorage = {
    getItem: (key) => memory.get(key) ?? null,
    setItem: (key, value) => void memory.set(key, value),
    removeItem: (key) => void memory.delete(key),
  };
  const current = (): TokenStorage => browserStorage(name) ?? inMemory;
  return {
    getItem: (key) => current().getItem(key),
    setItem: (key, value) => current().setItem(key, value),
    removeItem: (key) => current().removeItem(key),
  };
}

/** A login without a session is stored as its token. One item holds all of a login, so that tabs never mix two of them. */
function parseLogin(text: string | null): Login | undefined {
  if (!text?.startsWith('{')) return text === null ? undefined : { token: text };
  try {
    const login = JSON.parse(text) as Login;
    return typeof login.token === 'string' ? login : undefined;
  } catch {
    return undefined;
  }
}

function browserStorage(name: string): TokenStorage | undefined {
  try {
    return (globalThis as unknown as Readonly<Record<string, TokenStorage | undefined>>)[name];
  } catch {
    // Browsers that block the data of a site throw when the property is read.
    return undefined;
  }
}

/**
 * The claims of a login. Without a session it ends when the token expires, else when a refresh is refused: the clock of
 * the server may differ. The server verifies the signature.
 */
export function readClaims(login: Login | undefined): (Claims & { readonly isExpired: boolean }) | undefined {
  const payload = readPayload(login);
  if (!payload) return undefined;
  const { sub, exp, roles, amr } = payload;
  const isExpired = login?.session === undefined && !(Number(exp) * 1000 > Date.now());
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  return { id: String(sub), roles: texts(roles), ...(amr !== undefined && { amr: texts(amr) }), isExpired };
}

/** The id of the session that a token belongs to. */
export const sessionOf = (token: string): unknown => readPayload({ token })?.['sid'];

/** The same text for tokens that differ only in their times. */
export function claimsText(login: Login | undefined): string {
  const { iat: _, exp: __, ...claims } = readPayload(login) ?? {};
  return JSON.stringify(claims);
}

function readPayload(login: Login | undefined): Readonly<Record<string, unknown>> | undefined {
  const payload = login?.token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
