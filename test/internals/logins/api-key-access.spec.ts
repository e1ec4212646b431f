/** What the command line says about API keys. */
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from 'declarest';
import { AccessRules } from '../../../lib/access/access-rules.js';
import { compileApplication } from '../../../lib/cli/compile-application.js';
import { describeExplanation, explain } from '../../../lib/reach/explain.js';
import { AUTH, startAuth } from '../../auth/auth-app.js';
import { ONE_PLATFORM } from '../../harness/platforms.js';
import { ACCESS, JobsController, OPTIONS, Rules, textOf, WhoRules } from '../../logins/keyed-jobs.js';

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('the access table has the rows, callers and fields of keys', async () => {
    @Module({
      imports: [
        TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true }),
        AuthModule.forRoot({ ...AUTH, ...OPTIONS.auth }),
        ...OPTIONS.imports,
      ],
      controllers: [JobsController],
      providers: [Rules],
    })
    class AppModule {}
    const { compiled, reach } = await compileApplication({ module: AppModule } as never, platform);
    expect(compiled.rows.map(textOf)).toEqual(expect.arrayContaining(ACCESS));
    expect(reach.callers).toEqual(expect.arrayContaining(['nobody', 'USER', 'ADMIN', 'KEY', 'LOGIN']));
    const cost = reach.resources[0]?.fields['cost']?.read;
    expect(cost).toEqual(['USER', 'ADMIN', 'LOGIN']);
  });

  it('explain says what a key and a login get', async () => {
    const app = await startAuth(platform, { ...OPTIONS, providers: [Rules, WhoRules] });
    const { compiled } = app.app.get(AccessRules, { strict: false });
    const say = (method: string, path: string, ...roles: string[]) =>
      describeExplanation(explain(compiled!, { method, path, roles })).split('\n').at(-1);
    expect(say('GET', '/api/auth/me', 'USER')).toBe('Answer: allowed (LOGIN), by plugin apiKeys');
    expect(say('GET', '/api/auth/me', 'ADMIN', 'KEY')).toBe('Answer: 403, LOGIN is required, by plugin apiKeys');
    expect(say('POST', '/api/jobs', 'ADMIN')).toBe(
      'Answer: 403, KEY is required, by @Authenticated on JobsController.start',
    );
    expect(say('POST', '/api/jobs', 'ADMIN', 'KEY')).toMatch(/^Answer: allowed/);
    expect(say('GET', '/api/jobs', 'KEY')).toMatch(/^Answer: allowed/);
    await app.close();
  });
});
