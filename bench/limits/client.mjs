/** Sends requests over kept connections, as a proxy on the same machine does. */
import { Agent, request } from 'node:http';

const TIMEOUT_MS = 15_000;
const agent = new Agent({ keepAlive: true, maxSockets: 100, timeout: TIMEOUT_MS });

/** @returns the answer of a client: `send(method, path, { token, json, headers, status })`. Rejects another status. */
export const clientOf =
  (origin) =>
  (method, path, { token, json, headers = {}, status = 200 } = {}) =>
    new Promise((resolve, reject) => {
      const body = json && JSON.stringify(json);
      const sent = request(origin + path, {
        agent,
        method,
        headers: {
          ...(token && { Authorization: `Bearer ${token}` }),
          ...(body && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
          ...headers,
        },
      });
      const fail = (reason) => reject(new Error(`${method} ${path.replace(/\d+/g, 'N')}: ${reason}`));
      sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
      sent.on('error', ({ message }) => fail(message));
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => (text += part));
        response.on('error', ({ message }) => fail(message));
        response.on('end', () => {
          if (![status].flat().includes(response.statusCode)) return fail(`${response.statusCode} ${text}`);
          resolve({ status: response.statusCode, headers: response.headers, text });
        });
      });
      sent.end(body);
    });

const password = 'correct horse battery';

/** Users with sessions: `{ email, address, token, refreshToken }`. */
export async function openSessions(send, users, sessionsOfEach) {
  const sessions = [];
  for (let user = 0; user < users; user += 1) {
    const account = { email: `user-${user}@shop.example`, address: `10.0.0.${user}` };
    await send('POST', '/api/auth/register', { json: { email: account.email, password }, status: 201 });
    for (let index = 0; index < sessionsOfEach; index += 1) sessions.push(await logIn(send, account));
  }
  return sessions;
}

export async function logIn(send, { email, address }) {
  const headers = { 'X-Forwarded-For': address };
  const { text } = await send('POST', '/api/auth/login', { json: { email, password }, headers });
  const { token, refreshToken } = JSON.parse(text).data;
  return { email, address, token, refreshToken };
}
