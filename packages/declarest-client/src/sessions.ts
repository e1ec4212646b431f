/** Replaces the token of a login before it expires, with the refresh token of the session. */
import { dataOf, failureOf, isMissingRoute, isSuccess } from './failure.js';
import type { Answer, Request } from './requests.js';
import { type Login, now, type Session, sessionOf, type TokenStore } from './token-store.js';

/** A token is replaced when it has this time left, or half of its lifetime if that is shorter. */
const MARGIN_MS = 10_000;
/** A logout does not wait longer for the server. */
const LOGOUT_MS = 5_000;

/** What the server answers to a login or a refresh. */
export interface IssuedTokens {
  readonly token: string;
  /** Only servers with sessions send one, unless it is in a cookie. */
  readonly refreshToken?: string;
  /** The lifetime in seconds; only servers with sessions say it. */
  readonly expiresIn?: number;
}

export interface Sessions {
  /** Runs a login. Where its answer sets a cookie, it waits for the answers of other tabs that set one. */
  logIn<T>(work: () => Promise<T>): Promise<T>;
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

/** What a refresh replaces. Without a refresh token it is the time, as two tokens of one second may be the same text. */
const idOf = (session: Session | undefined): string | undefined =>
  session?.refreshToken ?? session?.refreshAt.toString();

/** A page of another origin must say that it is one the server knows. */
const BY_COOKIE = { credentials: 'include', headers: { 'X-Requested-With': 'declarest-client' } } as const;

/** @param send without a token @param cookie whether a login sets one, as far as it is known */
export function createSessions(
  tokens: TokenStore,
  send: (request: Request) => Promise<Answer>,
  cookie: boolean,
): Sessions {
  /** Refreshes that run, by what they replace. */
  const running = new Map<string | undefined, Promise<Login | undefined>>();
  /** What the server has last refused to replace. */
  let refused: string | undefined;

  const post = (session: Session, path: string, signal?: AbortSignal): Promise<Answer> =>
    send({
      method: 'POST',
      url: `${session.authUrl}/${path}`,
      resource: 'auth',
      ...(session.refreshToken === undefined ? BY_COOKIE : { json: { refreshToken: session.refreshToken } }),
      // A redirect could lead the refresh token to another origin.
      redirect: 'error',
      signal,
    });

  const start: Sessions['start'] = ({ token, refreshToken, expiresIn }, authUrl) => {
    if (expiresIn === undefined) return tokens.write({ token });
    const lifetime = expiresIn * 1000;
    const refreshAt = now() + lifetime - Math.min(MARGIN_MS, lifetime / 2);
    tokens.write({ token, session: { refreshToken, refreshAt, authUrl } });
  };

  /** @returns the login that is stored afterwards; `undefined` where the session has ended */
  const exchange = async (session: Session): Promise<Login | undefined> => {
    const stored = tokens.read();
    const isStored = (): boolean => idOf(tokens.read()?.session) === idOf(session);
    // Another tab has refreshed, or logged out.
    if (!stored?.session || !isStored()) return stored;
    const answer = await post(stored.session, 'refresh');
    const issued = isSuccess(answer) ? dataOf<IssuedTokens>(answer, 'authUrl') : undefined;
    // 400: the server takes refresh tokens in another way now.
    const isRefused = [400, 401].includes(answer.status) || isMissingRoute(answer);
    if (!isRefused && !issued) throw failureOf(answer);
    // The cookie may belong to the login of another page by now, which has a storage of its own.
    const hasEnded = !issued || (!session.refreshToken && sessionOf(issued.token) !== sessionOf(stored.token));
    // A logout or a login during the refresh counts more than its answer.
    if (!isStored()) return tokens.read();
    if (hasEnded) {
      refused = idOf(session);
      return undefined;
    }
    start(issued, stored.session.authUrl);
    return tokens.read();
  };

  const refresh = async (session: Session): Promise<Login | undefined> => {
    const id = idOf(session);
    if (id === refused) return undefined;
    const current = running.get(id) ?? withLock(tokens.key, () => exchange(session)).finally(() => running.delete(id));
    running.set(id, current);
    return current;
  };

  return {
    start,

    logIn: (work) => {
      const session = tokens.read()?.session;
      return cookie || (session && session.refreshToken === undefined) ? withLock(tokens.key, work) : work();
    },

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
      return session !== undefined && idOf(session) === refused;
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
