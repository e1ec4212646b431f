/** GitHub speaks OAuth 2 without OpenID Connect: its API says who the user is. */
import type { ServerMetadata } from 'openid-client';
import { unavailable } from './bounded-fetch.js';

export const GITHUB_SCOPE = 'read:user user:email';

/** @param issuer which GitHub sends with its responses (RFC 9207) @example githubMetadata('https://github.com/login/oauth') */
export const githubMetadata = (issuer: string): ServerMetadata => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/access_token`,
  token_endpoint_auth_methods_supported: ['client_secret_post'],
});

/** An enterprise server has the API below its own address. */
function apiOf(issuer: string): string {
  const { origin } = new URL(issuer);
  return origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`;
}

interface GithubEmail {
  readonly email?: unknown;
  readonly primary?: unknown;
  readonly verified?: unknown;
}

/** @param get sends a request with the token @returns the user in the words of OpenID Connect @throws ServiceUnavailable (503) */
export async function readGithubUser(issuer: string, get: (address: string) => Promise<Response>) {
  const read = async (path: string): Promise<unknown> => {
    const response = await get(`${apiOf(issuer)}${path}`);
    if (!response.ok) throw unavailable(new Error(`its API answered ${response.status}`));
    return response.json();
  };
  const [user, emails] = await Promise.all([read('/user'), read('/user/emails?per_page=100')]);
  const { id, ...claims } = (user ?? {}) as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(id)) throw unavailable(new Error('its API sent a user without an id'));
  const own = Array.isArray(emails) ? (emails as readonly (GithubEmail | null)[]) : [];
  const primary = own.find((each) => each?.primary === true);
  return { ...claims, sub: String(id), email: primary?.email, email_verified: primary?.verified };
}
