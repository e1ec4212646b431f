// Packs declarest and declarest-logins, installs them in an empty folder where each package finds only what its package.json
// names, checks the types of a file that uses every entry, and starts a service with all logins.
//
//     npm run test:packages
import assert from 'node:assert/strict';

import { emptyFolder, installAndCompile, packDeclarest, packWorkspace, run } from './packed.mjs';

const OTHERS = [
  '@nestjs/common@12',
  '@nestjs/core@12',
  '@nestjs/platform-express@12',
  '@nestjs/typeorm@12',
  '@types/node@20',
  'better-sqlite3@13',
  'reflect-metadata@0.2',
  'typeorm@1',
];

const USE = `
import 'reflect-metadata';
import { createHmac } from 'node:crypto';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthEvents, AuthModule, AuthUser, CurrentUser, externalTokens, type Principal, SecurityConfig } from 'declarest';
import { waysIn } from 'declarest-logins/administration';
import { apiKeys } from 'declarest-logins/api-keys';
import { jwks, type JwksOptions } from 'declarest-logins/jwks';
import { oidc, type OidcOptions } from 'declarest-logins/oidc';
import { passkeys, type PasskeysOptions } from 'declarest-logins/passkeys';
import { hasFactor, secondFactor, SecondFactors } from 'declarest-logins/second-factor';
import { answers, type AuthPlugin } from 'declarest/plugin';
import { Entity } from 'typeorm';

const SECRET = 'a secret of another issuer, with 32 bytes';
const ISSUER = 'https://login.example';
const USER = { email: 'ann@example.com', password: 'correct horse battery' };

@Entity()
class User extends AuthUser {}

@Controller('/api')
class NamesController {
  @Get('names') read(@CurrentUser() user: Principal) { return { name: user.email }; }
  @Get('secrets') readSecrets() { return {}; }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/**');
    this.requirePolicy('second factor', hasFactor(), 'GET /api/secrets');
  }
}

const tokens: JwksOptions = { issuer: ISSUER, audience: 'names', secret: SECRET };
const providers: OidcOptions['providers'] = {
  github: { type: 'github', clientId: 'id', clientSecret: 'a secret', redirectUris: ['https://names.example/login'] },
};
const domain: PasskeysOptions = { rpId: 'names.example', origins: ['https://names.example'] };
const greeting: AuthPlugin = {
  name: 'greeting',
  endpoints: [
    {
      name: 'greet',
      route: 'GET greeting',
      access: 'public',
      summary: 'Greet',
      answers: { 200: answers.data('A greeting', {}) },
      run: async () => ({ success: true, data: {} }),
    },
  ],
};

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: ':memory:',
      synchronize: true,
      autoLoadEntities: true,
    }),
    AuthModule.forRoot({
      userClass: User,
      jwtSecret: 'a secret of this service, with 32 bytes',
      sessions: true,
      plugins: [
        apiKeys(),
        oidc({ providers }),
        passkeys(domain),
        secondFactor({ issuer: 'Names' }),
        externalTokens({ authenticate: jwks(tokens), userOf: ({ id }, { users }) => users.findById(String(id)) }),
        greeting,
        waysIn(),
      ],
    }),
  ],
  controllers: [NamesController],
  providers: [Rules],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();
const seen: string[] = [];
const events = app.get(AuthEvents, { strict: false });
events.on('factor.refused', ({ userId, name }) => void seen.push(name, userId));
events.on('passkey.added', ({ passkeyId }) => void seen.push(passkeyId));
events.on('identity.linked', ({ provider }) => void seen.push(provider));

const send = async (method: string, path: string, token?: string, body?: object) => {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as { data?: Record<string, any>; name?: string };
  return { status: response.status, ...json };
};
const post = (path: string, body: object, token?: string) => send('POST', '/api/auth/' + path, token, body);

const { token } = (await post('register', USER)).data!;
const { user } = (await send('GET', '/api/auth/me', token)).data!;
const { key } = (await post('keys', { name: 'backup', password: USER.password }, token)).data!;
const passkey = (await post('passkeys/options', { password: USER.password }, token)).data!;
const enrolment = (await post('mfa/enrol', { password: USER.password }, token)).data!;
await post('mfa/confirm', { code: '000000' }, token);
const { url: provider } = (await post('oidc/github', {})).data!;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = { iss: ISSUER, aud: 'names', sub: String(user.id), exp: Math.ceil(Date.now() / 1000) + 60 };
const content = encode({ alg: 'HS256' }) + '.' + encode(claims);
const foreign = content + '.' + createHmac('sha256', SECRET).update(content).digest('base64url');
const named = await Promise.all([token, key, foreign].map(async (each) => (await send('GET', '/api/names', each)).name));
const secrets = await send('GET', '/api/secrets', token);
const greeted = await send('GET', '/api/auth/greeting');
await app.get(SecondFactors, { strict: false }).remove(user.id);
const started = [new URL(provider).hostname, passkey.rp.id, enrolment.uri.slice(0, 21)];
console.log(JSON.stringify([...named, ...started, secrets.status, greeted.status, ...seen]));
await app.close();
`;

const folder = emptyFolder();
const tarballs = [packDeclarest(folder), packWorkspace('declarest-logins', folder)];
installAndCompile(folder, [...OTHERS, ...tarballs], USE, {
  npm: ['--install-strategy=linked'],
  // The peer range of TypeORM ends at better-sqlite3 12.
  settings: { overrides: { typeorm: { 'better-sqlite3': '13' } } },
  compilerOptions: { types: ['node'], experimentalDecorators: true, emitDecoratorMetadata: true },
});
const used = JSON.parse(run(process.execPath, ['use.js'], folder));
const [email, statuses, events] = ['ann@example.com', [401, 200], ['factor.refused', '1']];
const started = ['github.com', 'names.example', 'otpauth://totp/Names:'];
assert.deepEqual(used, [email, email, email, ...started, ...statuses, ...events]);
console.log('declarest-logins works as installed from its tarball.');
