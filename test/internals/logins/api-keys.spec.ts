/** The form of API keys, and the time of their last use. */
import { ApiKey, apiKeys } from 'declarest-logins/api-keys';
import { DataSource } from 'typeorm';
import { ApiKeyStore } from '../../../packages/declarest-logins/src/api-keys/api-key-store.js';
import { isKey, newKey } from '../../../packages/declarest-logins/src/api-keys/key-form.js';
import { startAuth } from '../../auth/auth-app.js';
import { ONE_PLATFORM } from '../../harness/platforms.js';
import { KEY, keyOf, logIn } from '../../logins/keyed-app.js';

it('a key has 256 bits and a checksum, which finds what was mistyped', () => {
  const keys = Array.from({ length: 200 }, newKey);
  expect(new Set(keys).size).toBe(200);
  for (const key of keys) {
    expect(key).toMatch(KEY);
    expect(isKey(key)).toBe(true);
    const at = 3 + ((key.codePointAt(10) ?? 0) % 49);
    const other = key[at] === 'x' ? 'y' : 'x';
    for (const wrong of [
      key.slice(0, at) + other + key.slice(at + 1),
      key.slice(0, -1),
      `${key}0`,
      key.slice(3),
      '',
      'dk_',
    ])
      expect([wrong, isKey(wrong)]).toEqual([wrong, false]);
  }
  // The checksum of GitHub's tokens: CRC-32, in the digits 0-9A-Za-z, of 6 digits.
  expect(isKey(`dk_${'0'.repeat(43)}2CZclj`)).toBe(true);
});

it.each(ONE_PLATFORM)('a use that another process has written is not written again, on %s', async (platform) => {
  const app = await startAuth(platform, { auth: { plugins: [apiKeys()] } });
  await keyOf(app, await logIn(app));
  const table = app.app.get(DataSource, { strict: false }).getRepository(ApiKey);
  const { id } = await table.findOneByOrFail({});
  for (const [age, isWritten] of [
    [50_000, false],
    [61_000, true],
  ] as const) {
    const before = Date.now() - age;
    await table.update({ id }, { lastUsedAt: before });
    await app.app.get(ApiKeyStore, { strict: false }).markUsed(id);
    expect((await table.findOneByOrFail({ id })).lastUsedAt !== before).toBe(isWritten);
  }
  await app.close();
});
