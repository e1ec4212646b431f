import { AuthEvents, type AuthEventName, AuthSession } from 'declarest';
import { DataSource } from 'typeorm';
import { SessionStore } from '../../../lib/auth/sessions/session-store.js';
import { startAuth, uniqueEmail } from '../../auth/auth-app.js';
import { ONE_PLATFORM } from '../../harness/platforms.js';

it.each(ONE_PLATFORM)(
  '[2.9] on %s a refresh that reads an older row of the session is 401, and the session goes on',
  async (platform) => {
    const app = await startAuth(platform, { auth: { sessions: true } });
    const refresh = (refreshToken: unknown) => app.post('/api/auth/refresh', { refreshToken });
    const registered: object = await app.register({ email: uniqueEmail() });
    const older = await app.app.get(DataSource, { strict: false }).getRepository(AuthSession).findOneByOrFail({});
    const second = (await refresh(Reflect.get(registered, 'refreshToken'))).json.data.refreshToken;
    const events: AuthEventName[] = [];
    app.app.get(AuthEvents, { strict: false }).on('session.reused', ({ name }) => void events.push(name));
    const store = app.app.get(SessionStore, { strict: false });
    vi.spyOn(store, 'find').mockResolvedValueOnce(older);
    vi.spyOn(store, 'rotate').mockResolvedValueOnce(false);
    vi.spyOn(store, 'successorOf').mockResolvedValueOnce(undefined);
    expect((await refresh(second)).status).toBe(401);
    expect((await refresh(second)).status).toBe(200);
    expect(events).toEqual([]);
    await app.close();
  },
);
