/** An application with API keys, and requests by them. */
import { UserAccounts } from 'declarest';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import type { RunningApp } from '../harness/platforms.js';
import { PASSWORD, uniqueEmail } from '../auth/auth-app.js';

/** As docs/tasks/api-keys.md gives it to secret scanners. */
export const KEY = /^dk_[0-9A-Za-z]{49}$/;

export interface Owner {
  readonly id: number;
  readonly email: string;
  readonly token: string;
}

/** A user who has logged in. */
export async function logIn({ app, url }: RunningApp, role = 'USER'): Promise<Owner> {
  const email = uniqueEmail();
  const { id } = await app.get(UserAccounts, { strict: false }).create({ email, password: PASSWORD, role });
  const { json } = await request(url, 'POST', '/api/auth/login', { json: { email, password: PASSWORD } });
  return { id: Number(id), email, token: json.data.token };
}

export const createKey = ({ url }: RunningApp, { token }: Owner, body: object = {}): Promise<Answer> =>
  request(url, 'POST', '/api/auth/keys', { token, json: { name: 'backup', password: PASSWORD, ...body } });

/** @returns the key itself */
export async function keyOf(app: RunningApp, owner: Owner, body: object = {}): Promise<string> {
  const { status, text, json } = await createKey(app, owner, body);
  if (status !== 201) throw new Error(`POST keys answered ${status} ${text}`);
  return json.data.key;
}

export const statusOf = async (
  { url }: Pick<RunningApp, 'url'>,
  token: string,
  path: string,
  method = 'GET',
  more: RequestOptions = {},
): Promise<number> => (await request(url, method, path, { token, ...more })).status;

/**
 * Sends requests by a key to each application all the time, while it is changed.
 * @returns the statuses of those that were sent after the change was answered
 */
export async function statusesAfter(
  apps: readonly Pick<RunningApp, 'url'>[],
  key: string,
  path: string,
  change: () => Promise<unknown>,
): Promise<number[]> {
  let isChanged = false;
  const [before, after] = [new Set<number>(), new Set<number>()];
  const use = async (app: Pick<RunningApp, 'url'>): Promise<void> => {
    for (let late = 0; late < 10; late += isChanged ? 1 : 0) {
      const statuses = isChanged ? after : before;
      statuses.add(await statusOf(app, key, path));
    }
  };
  const uses = [0, 1, 2].flatMap(() => apps.map(use));
  await vi.waitFor(() => expect(before.size).toBeGreaterThan(0));
  expect([...before]).toEqual([200]);
  await change();
  isChanged = true;
  await Promise.all(uses);
  return [...after];
}
