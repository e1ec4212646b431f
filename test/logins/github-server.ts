/** What GitHub's OAuth endpoints and its API answer, on loopback: an enterprise server. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { CLIENT, listen, stop } from './identity-provider.js';

export interface GithubServer {
  readonly issuer: string;
  /** By login: the id, and the addresses. */
  readonly users: Map<string, { id: unknown; emails: unknown }>;
  /** How many codes were sent for tokens. */
  exchanges: number;
  close: () => Promise<void>;
}

export async function startGithub(): Promise<GithubServer> {
  const users: GithubServer['users'] = new Map();
  const codes = new Map<string, { login: string; challenge: string; redirectUri: string }>();
  const tokens = new Map<string, string>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', issuer);
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
    };
    const query = (name: string): string => url.searchParams.get(name) ?? '';
    if (url.pathname === '/login/oauth/authorize') {
      const code = randomUUID();
      const redirectUri = query('redirect_uri');
      codes.set(code, { login: query('login_hint'), challenge: query('code_challenge'), redirectUri });
      const sent = new URLSearchParams({ code, state: query('state'), iss: `${issuer}/login/oauth` });
      return response.writeHead(302, { location: `${redirectUri}?${sent}` }).end();
    }
    if (url.pathname === '/login/oauth/access_token')
      return void text(request).then((body) => {
        running.exchanges += 1;
        const sent = Object.fromEntries(new URLSearchParams(body));
        const code = codes.get(sent['code'] ?? '');
        codes.delete(sent['code'] ?? '');
        const challenge = createHash('sha256')
          .update(sent['code_verifier'] ?? '')
          .digest('base64url');
        const isClient = sent['client_id'] === CLIENT.clientId && sent['client_secret'] === CLIENT.clientSecret;
        // GitHub answers failures by 200.
        if (!isClient || challenge !== code?.challenge || code.redirectUri !== sent['redirect_uri'])
          return json({ error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' });
        const token = `gho_${randomUUID()}`;
        tokens.set(token, code.login);
        return json({ access_token: token, scope: 'read:user,user:email', token_type: 'bearer' });
      });
    const login = tokens.get(String(request.headers.authorization).replace(/^bearer /i, ''));
    const user = login !== undefined && request.headers['user-agent'] ? users.get(login) : undefined;
    if (!user) return json({ message: 'Bad credentials' }, 401);
    if (url.pathname === '/api/v3/user')
      return json({ id: user.id, login, name: 'Ann Lee', email: 'public@shop.example' });
    if (url.pathname === '/api/v3/user/emails') return json(user.emails);
    return json({ message: 'Not Found' }, 404);
  });
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const running: GithubServer = { issuer: `${issuer}/login/oauth`, users, exchanges: 0, close: () => stop(server) };
  return running;
}
