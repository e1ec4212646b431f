/** Stores the token of the user, and reads its claims. */

/** Where the token is stored: `localStorage`, `sessionStorage`, or an object with the same methods. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface TokenStore {
  read(): string | undefined;
  write(token: string): void;
  clear(): void;
}

export interface Claims {
  readonly roles: readonly string[];
}

/** For processes without `localStorage`, shared by both providers. */
const memory = new Map<string, string>();
const MEMORY: TokenStorage = {
  getItem: (key) => memory.get(key) ?? null,
  setItem: (key, value) => void memory.set(key, value),
  removeItem: (key) => void memory.delete(key),
};

/** @param url of the provider: applications of one origin that use several services have a token for each of them */
export function createTokenStore(url: string, storage?: TokenStorage): TokenStore {
  const key = `refine-declarest:${url}`;
  const current = (): TokenStorage => storage ?? browserStorage() ?? MEMORY;
  return {
    read: () => current().getItem(key) ?? undefined,
    write: (token) => current().setItem(key, token),
    clear: () => current().removeItem(key),
  };
}

function browserStorage(): TokenStorage | undefined {
  try {
    return (globalThis as { readonly localStorage?: TokenStorage }).localStorage;
  } catch {
    // Browsers that block the data of a site throw when the property is read.
    return undefined;
  }
}

/** The claims of a token that has not expired. The server verifies the signature. */
export function readClaims(token: string | undefined): Claims | undefined {
  const payload = token?.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const { exp, roles } = JSON.parse(new TextDecoder().decode(bytes)) as { exp: unknown; roles: unknown };
    return Number(exp) * 1000 > Date.now() ? { roles: Array.isArray(roles) ? roles.map(String) : [] } : undefined;
  } catch {
    return undefined;
  }
}
