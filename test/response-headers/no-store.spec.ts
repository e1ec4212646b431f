/** Answers of generated endpoints to a user are kept by no cache; those that everybody gets are as before. */
import { generateKeyPairSync } from 'node:crypto';
import { Controller, Get, Header, Injectable } from '@nestjs/common';
import { accessEndpoint, CrudController, Roles } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { as } from 'declarest/testing';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { startAuth } from '../auth/auth-app.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { logIn } from '../logins/keyed-app.js';
import { startCrud } from '../crud/service.js';

@Entity()
class Leaf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Injectable()
class Leaves extends CrudController({ entity: Leaf, endpoint: '/leaves', enableExists: true }) {
  @Get('exists/:id')
  @Header('Cache-Control', 'max-age=60')
  override exists(id: string) {
    return super.exists(id);
  }
}

const PRIVATE_KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

@Controller('/own')
class OwnController {
  @Roles('ADMIN')
  @Get('report')
  report() {
    return {};
  }
}

describe.each(PLATFORMS)('%s', (platform) => {
  it('[2.9] no cache keeps the answers of account endpoints, refusals included', async () => {
    const app = await startAuth(platform, {
      auth: {
        sessions: true,
        administration: true,
        jwtKeys: [{ kid: 'one', alg: 'EdDSA', privateKey: PRIVATE_KEY }],
        plugins: [apiKeys(), accessEndpoint()],
      },
      controllers: [OwnController],
    });
    const send = async (method: string, path: string, options: RequestOptions = {}) => {
      const { status, headers } = await request(app.url, method, path, options);
      return [method, path, status, headers['cache-control']];
    };
    try {
      const [{ token }, admin] = [await logIn(app), await logIn(app, 'ADMIN')];
      for (const path of ['me', 'sessions', 'keys', 'access', 'users'].map((name) => `/api/auth/${name}`)) {
        const [isAdmins, isPublic] = [path === '/api/auth/users', path === '/api/auth/access'];
        expect(await send('GET', path, { token: admin.token })).toEqual(['GET', path, 200, 'no-store']);
        expect(await send('GET', path, { token })).toEqual(['GET', path, isAdmins ? 403 : 200, 'no-store']);
        expect(await send('GET', path)).toEqual(['GET', path, isPublic ? 200 : 401, 'no-store']);
        expect(await send('GET', path, { token: 'x.y.z' })).toEqual(['GET', path, isPublic ? 200 : 401, 'no-store']);
      }
      const missing = `/api/auth/sessions/00000000-0000-4000-8000-000000000000`;
      expect(await send('DELETE', missing, { token })).toEqual(['DELETE', missing, 404, 'no-store']);
      const wrong = { json: { email: 'x@example.com', password: 'wrong password' } };
      expect(await send('POST', '/api/auth/login', wrong)).toEqual(['POST', '/api/auth/login', 401, 'no-store']);
      expect(await send('PATCH', '/api/auth/me', { token, json: { role: 'ADMIN' } })).toContain('no-store');
      // Refusals of rules depend on the caller on routes of the application too.
      expect(await send('GET', '/own/report')).toEqual(['GET', '/own/report', 401, 'no-store']);
      expect(await send('GET', '/own/report', { token })).toEqual(['GET', '/own/report', 403, 'no-store']);
      expect(await send('GET', '/.well-known/jwks.json')).toContain('public, max-age=300');
    } finally {
      await app.close();
    }
  });

  it('no cache keeps what a user gets, also on a public route', async () => {
    const imports = [authModule({ defaultAccess: 'public' })];
    const service = await startCrud(platform, { imports, entities: [Leaf], resources: [Leaves] });
    const ann = as(service.app, { sub: 1, roles: ['USER'] });
    const nobody = as(service.app);
    const seen = ({ status, headers }: Answer) => [status, headers['cache-control']];
    try {
      expect(seen(await ann.post('/leaves', { name: 'ash' }))).toEqual([201, 'no-store']);
      for (const path of ['/leaves', '/leaves/1']) {
        expect([path, seen(await nobody.get(path))]).toEqual([path, [200, undefined]]);
        expect([path, seen(await ann.get(path))]).toEqual([path, [200, 'no-store']]);
      }
      expect(seen(await ann.get('/leaves/9'))).toEqual([404, 'no-store']);
      // The route's own header counts.
      expect(seen(await ann.get('/leaves/exists/1'))).toEqual([200, 'max-age=60']);
    } finally {
      await service.close();
    }
  });
});
