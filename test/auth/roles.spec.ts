/** Which roles users can get: no text that looks like a role of the application, and is another one. */
import { AuthUser, CrudController, CrudModule, SecurityConfig, UserAccounts } from 'declarest';
import { Entity } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { linesOf, ONE_PLATFORM } from '../harness/platforms.js';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

@Entity('member')
class Member extends AuthUser {}

const ADMINS = { write: ['ADMIN'] };

class Members extends CrudController({
  entity: Member,
  endpoint: '/api/members',
  operations: ['findById', 'update', 'patch', 'patchMany'],
  enableBatch: true,
  fieldPermissions: { role: ADMINS, active: ADMINS, lastName: { write: ['Press'] } },
}) {}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/members/**');
    this.requireRole('EDITOR', 'DELETE /api/members/*');
  }
}

/** What must not become a role, and what the answer says of it. */
const REFUSED: readonly [role: string, says: string][] = [
  ['', 'the name of a role such as "ADMIN"'],
  [' ', 'visible characters'],
  ['\u200b', 'visible characters'],
  ['ADMIN\u200b', 'visible characters'],
  ['\u202eNIMDA', 'visible characters'],
  ['AD\u00adMIN', 'visible characters'],
  ['ADMIN\ufe0f', 'visible characters'],
  ['\u3164', 'visible characters'],
  ['\u2800', 'visible characters'],
  ['A\u00a0B', 'visible characters'],
  ['A  B', 'visible characters'],
  [' ADMIN', 'visible characters'],
  ['\uff21\uff24\uff2d\uff29\uff2e', 'usual width'],
  ['admin', '"ADMIN"'],
  ['User', '"USER"'],
  ['Editor', '"EDITOR"'],
  ['owner', '"OWNER"'],
  ['MODERATOR', '"moderator"'],
  ['AUDITOR', '"Auditor"'],
  ['press', '"Press"'],
];
const ACCEPTED = ['EDITOR', 'moderator', 'Auditor', 'Press', 'SALES', 'Leitung Süd', '管理员', 'USER'];

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it.each(DATABASES)(
    'an administration and a resource take no role that looks like another one, on %s',
    async (database) => {
      const app: AuthApp = await startAuth(platform, {
        database,
        auth: {
          userClass: Member,
          administration: true,
          throttle: false,
          roleHierarchy: { OWNER: ['ADMIN'], ADMIN: ['moderator'] },
          enforcedRoles: ['EDITOR', 'ADMIN', 'Auditor'],
        },
        imports: [CrudModule.forFeature(Members)],
        providers: [Rules],
      });
      const accounts = app.app.get(UserAccounts, { strict: false });
      const email = uniqueEmail();
      await accounts.create({ email, password: PASSWORD, role: 'ADMIN' });
      const { token } = (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data;
      const { id } = (await app.register({ email: uniqueEmail() })).user as { id: number };
      const change = async (role: string) => {
        const send = (method: string, path: string, json: unknown) => request(app.url, method, path, { token, json });
        return [
          await send('PATCH', `/api/auth/users/${id}`, { role }),
          await send('PATCH', `/api/members/${id}`, { role }),
          await send('PUT', `/api/members/${id}`, { role, active: true }),
          await send('PATCH', '/api/members/batch', { items: [{ id, role }] }),
        ];
      };
      for (const [role, says] of REFUSED) {
        for (const { status, text } of await change(role)) {
          expect([role, status]).toEqual([role, 400]);
          expect(text.replaceAll('\\"', '"')).toContain(says);
        }
        await expect(accounts.setRole(id, role)).rejects.toThrow(says);
        await expect(accounts.create({ email: uniqueEmail(), password: PASSWORD, role })).rejects.toThrow(says);
      }
      expect(await app.row({ id })).toMatchObject({ role: 'USER' });
      for (const role of ACCEPTED) {
        expect([role, (await change(role)).map(({ status }) => status)]).toEqual([role, [200, 200, 200, 200]]);
        expect(await app.row({ id })).toMatchObject({ role });
      }
      // Each of the four changes tells of a role that nothing names.
      for (const role of [...ACCEPTED, 'ADMIN']) {
        const told = linesOf(app.logs, 'warn').filter((line) => line.includes(`names the role "${role}". Correct`));
        expect([role, told.length >= 4]).toEqual([role, ['SALES', 'Leitung Süd', '管理员'].includes(role)]);
      }
      await app.close();
    },
  );
});
