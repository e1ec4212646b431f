/** Poolers such as pgpool send a SELECT to a standby, which may be behind, unless it calls a volatile function or locks. */
import { UserAccounts } from 'declarest';
import { DATABASES } from '../harness/databases.js';
import { StatementLog } from '../harness/statement-log.js';
import { PASSWORD, startAuth } from './auth-app.js';

it.runIf(DATABASES.includes('postgres'))(
  '[2.9] accounts decide on reads that a pooler sends to the primary',
  async () => {
    const logger = new StatementLog();
    const auth = { sessions: { revocation: 'immediate' }, administration: true, bcryptRounds: 4 } as const;
    const app = await startAuth('fastify', { database: 'postgres', auth, dataSource: { logger } });
    const user = { email: 'ann@shop.example', password: PASSWORD };
    await app.register(user);
    logger.take();
    const { json } = await app.post('/api/auth/login', user);
    const { token, refreshToken } = json.data as Record<string, string>;
    expect((await app.get('/api/auth/me', { token: token! })).status).toBe(200);
    expect((await app.post('/api/auth/refresh', { refreshToken })).status).toBe(200);
    await app.app.get(UserAccounts, { strict: false }).setPassword(1, `${PASSWORD}!`);
    const reads = logger.take().map(([sql]) => sql);
    const balanced = reads.filter((sql) => sql.startsWith('SELECT') && !/clock_timestamp\(\)|FOR UPDATE/.test(sql));
    expect(balanced).toEqual([]);
    expect(reads.length).toBeGreaterThan(5);
    await app.close();
  },
);
