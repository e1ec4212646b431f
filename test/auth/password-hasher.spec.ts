/** `maxBytes` of `passwordHasher`: passwords beyond the 72 bytes of bcrypt, with scrypt of node. */
import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import bcrypt from 'bcrypt';
import { InvalidOptionError, type PasswordHasher } from 'declarest';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type AuthApp, bootAuth, expectFailure, startAuth, uniqueEmail } from './auth-app.js';

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
const COST = { N: 16, r: 8, p: 1 };
const REFUSED = 'password: expected at most 1024 bytes in UTF-8';

/** Scrypt reads each byte of a password. */
class ScryptHasher implements PasswordHasher {
  readonly maxBytes = 1_024;
  /** The lengths of the texts that were hashed, in UTF-16 units. */
  readonly lengths: number[] = [];

  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    return `scrypt$${salt.toString('hex')}$${(await derive(password, salt, 32, COST)).toString('hex')}`;
  }

  async verify(password: string, hash: string): Promise<boolean> {
    this.lengths.push(password.length);
    if (!hash.startsWith('scrypt$')) return bcrypt.compare(password, hash);
    const [, salt = '', key] = hash.split('$');
    return (await derive(password, Buffer.from(salt, 'hex'), 32, COST)).toString('hex') === key;
  }

  needsRehash(hash: string): boolean {
    return !hash.startsWith('scrypt$');
  }
}

describe.each(ONE_PLATFORM)('a passwordHasher of 1,024 bytes on %s', (platform) => {
  let app: AuthApp;
  let hasher: ScryptHasher;
  beforeAll(async () => {
    hasher = new ScryptHasher();
    app = await startAuth(platform, { auth: { passwordHasher: hasher, sessions: true } });
  });
  afterAll(() => app.close());
  const login = async (email: unknown, password: string): Promise<number> =>
    (await app.post('/api/auth/login', { email, password })).status;

  it.each([
    ['73 bytes', 'p'.repeat(73)],
    ['1,024 bytes', 'p'.repeat(1_024)],
    ['512 characters in 1,024 bytes', 'ä'.repeat(512)],
  ])('takes %s, and each of them counts', async (_, password) => {
    const { user } = await app.register({ email: uniqueEmail(), password });
    expect(await login(user['email'], password)).toBe(200);
    expect(await login(user['email'], `${password.slice(0, -1)}x`)).toBe(401);
    expect(await login(user['email'], password.slice(0, 72))).toBe(401);
    expect(await login(user['email'], `${password}x`)).toBe(401);
  });

  it('refuses more', async () => {
    for (const password of ['p'.repeat(1_025), 'ä'.repeat(513)]) {
      const answer = await app.post('/api/auth/register', { email: uniqueEmail(), password });
      expect(expectFailure(answer)).toBe(REFUSED);
    }
    const { token } = await app.register({ email: uniqueEmail() });
    const body = { current: 'correct horse battery', new: 'p'.repeat(1_025) };
    expect(expectFailure(await app.post('/api/auth/password', body, { token }))).toBe(REFUSED);
    const changed = await app.post('/api/auth/password', { ...body, new: 'p'.repeat(1_024) }, { token });
    expect(changed.status).toBe(204);
  });

  it('hashes no longer text, so that the work of a login is bounded', async () => {
    const { user } = await app.register({ email: uniqueEmail() });
    hasher.lengths.length = 0;
    for (const email of [user['email'], 'nobody@example.com']) expect(await login(email, 'p'.repeat(50_000))).toBe(401);
    expect(hasher.lengths).toEqual([1_024, 1_024]);
  });

  it('compares a hash of bcrypt with at most 72 bytes, and replaces it', async () => {
    const password = 'p'.repeat(72);
    const { user } = await app.register({ email: uniqueEmail(), password });
    const where = { id: user['id'] as number };
    await app.users().update(where, { password: await bcrypt.hash(password, 4) });
    expect(await bcrypt.compare(`${password}x`, String((await app.row(where))['password']))).toBe(true);
    expect(await login(user['email'], `${password}x`)).toBe(401);
    expect(await login(user['email'], password)).toBe(200);
    expect((await app.row(where))['password']).toMatch(/^scrypt\$/);
    expect(await login(user['email'], `${password}x`)).toBe(401);
  });

  it('says the limit in the document', () => {
    const { components } = SwaggerModule.createDocument(app.app, new DocumentBuilder().build());
    const limits = { minLength: 8, maxLength: 1_024, description: 'At most 1024 bytes in UTF-8.' };
    expect(components?.schemas).toMatchObject({
      NewPassword: limits,
      Registration: { properties: { password: limits } },
    });
  });
});

it.each([71, 1_025, 72.5, '100', null])('refuses to start with a maxBytes of %j', async (maxBytes) => {
  const passwordHasher = Object.assign(new ScryptHasher(), { maxBytes }) as unknown as PasswordHasher;
  const { error } = await bootAuth('express', { auth: { passwordHasher } });
  expect(error).toBeInstanceOf(InvalidOptionError);
  const option = 'AuthModule option `passwordHasher.maxBytes` must be an integer from 72 to 1024';
  expect((error as Error).message).toContain(option);
});

it('takes 72 bytes with a hasher that does not say its limit', async () => {
  const passwordHasher: PasswordHasher = {
    hash: (password) => new ScryptHasher().hash(password),
    verify: (password, hash) => new ScryptHasher().verify(password, hash),
    needsRehash: () => false,
  };
  const app = await startAuth('express', { auth: { passwordHasher } });
  const answer = await app.post('/api/auth/register', { email: uniqueEmail(), password: 'p'.repeat(73) });
  expect(expectFailure(answer)).toBe('password: expected at most 72 bytes in UTF-8');
  await app.close();
});
