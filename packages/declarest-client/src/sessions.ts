/** Replaces the token of a login before it expires, with the refresh token of the session. */
import { failureOf, isMissingRoute, isSuccess } from './failure.js';
import type { Answer, Request } from './requests.js';
import { type Login, now, type Session, type TokenStore } from './token-store.js';

/** A token is replaced when it has this time left, or half of its lifetime if that is shorter. */
const MARGIN_MS = 10_000;
/** A logout does not wait longer for the server. */
const LOGOUT_MS = 5_000;

/** What the server answers to a login or a refresh. */
export interface IssuedTokens {
  readonly token: string;
  /** Of servers with sessions, as `expiresIn`. */
  readonly refreshToken?: string;
  /** Seconds. */
  readonly expiresIn?: number;
}

export interface Sessions {
  /** Stores a login at these endpoints. */
  start(issued: IssuedTokens, authUrl: string): void;
  /** The token to send; the last one where the session has ended. @throws Failure where it cannot be replaced now */
  token(): Promise<string | undefined>;
  /** A token to repeat a request with whose token was refused. @throws Failure as `token` */
  replace(refused: string | undefined): Promise<string | undefined>;
  /** Whether the server has refused to refresh the stored login. */
  hasEnded(): boolean;
  /** Removes the login, and ends its session on the server if that can be reached. */
  end(): Promise<void>;
}

/** @param send without a token */
export function createSessions(tokens: TokenStore, send: (request: Request) => Promise<Answer>): Sessions {
  /** Refreshes that run, by refresh token. */
  const running = new Map<string, Promise<Login | undefined>>();
  /** The last refresh token that the server has refused. */
  let refused: string | undefined;

  const post = (session: Session, path: string, signal?: AbortSignal): Promise<Answer> =>
    send({
      method: 'POST',
      url: `${session.authUrl}/${path}`,
      resource: 'auth',
      json: { refreshToken: session.refreshToken },
      // A redirect could lead the refresh token to another origin.
      redirect: 'error',
      signal,
    });

  const start: Sessions['start'] = ({ token, refreshToken, expiresIn = 0 }, authUrl) => {
    const lifetime = expiresIn * 1000;
    const refreshAt = now() + lifetime - Math.min(MARGIN_MS, lifetime / 2);
    tokens.write({ token, session: refreshToken === undefined ? undefined : { refreshToken, refreshAt, authUrl } });
  };

  /** @returns the login that is stored afterwards; `undefined` where the session has ended */
  const exchange = async ({ refreshToken }: Session): Promise<Login | undefined> => {
    const stored = tokens.read();
    const isStored = (): boolean => tokens.read()?.session?.refreshToken === refreshToken;
    // Another tab has refreshed, or logged out.
    if (!stored?.session || !isStored()) return stored;
    const answer = await post(stored.session, 'refresh');
    const hasEnded = answer.status === 401 || isMissingRoute(answer);
    if (!hasEnded && !isSuccess(answer)) throw failureOf(answer);
    // A logout or a login during the refresh counts more than its answer.
    if (!isStored()) return tokens.read();
    if (hasEnded) {
      refused = refreshToken;
      return undefined;
    }
    start((answer.body as { readonly data: IssuedTokens }).data, stored.session.authUrl);
    return tokens.read();
  };

  const refresh = async (session: Session): Promise<Login | undefined> => {
    const { refreshToken } = session;
    if (refreshToken === refused) return undefined;
    const current =
      running.get(refreshToken) ??
      withLock(tokens.key, () => exchange(session)).finally(() => running.delete(refreshToken));
    running.set(refreshToken, current);
    return current;
  };

  return {
    start,

    token: async () => {
      const login = tokens.read();
      if (!login?.session || now() < login.session.refreshAt) return login?.token;
      const fresh = await refresh(login.session);
      // The server says with the next answer that the session has ended.
      return (fresh ?? tokens.read())?.token;
    },

    replace: async (token) => {
      const login = tokens.read();
      // Another request or tab has refreshed, or logged in.
      if (login?.token !== token) return login?.token;
      return login?.session && (await refresh(login.session))?.token;
    },

    hasEnded: () => {
      const session = tokens.read()?.session;
      return session !== undefined && session.refreshToken === refused;
    },

    end: async () => {
      const session = tokens.read()?.session;
      tokens.clear();
      if (session) await post(session, 'logout', AbortSignal.timeout(LOGOUT_MS)).catch(() => undefined);
    },
  };
}

/** The part of `navigator.locks` that is used. */
interface Locks {
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}

/** One tab at a time, where the browser has locks. Elsewhere two tabs may refresh together: the server allows that. */
async function withLock<T>(name: string, task: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks | null } };
  return navigator?.locks ? navigator.locks.request(name, task) : task();
}
