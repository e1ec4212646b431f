/** The option `throttle.rateLimitHeaders`: `RateLimit` and `RateLimit-Policy` beside `Retry-After`. */
import { type MiddlewareConsumer, Module } from '@nestjs/common';
import { accountEndpoint, type AuthOptions, AuthModule, cors } from 'declarest';
import { AUTH, type AuthApp, startAuth } from '../auth/auth-app.js';
import type { Answer } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';

@Module({})
class CrossOrigin {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(cors()).forRoutes('/api/auth/*path');
  }
}

const spend = accountEndpoint({
  name: 'spend',
  route: 'POST spend',
  access: 'public',
  limit: false,
  summary: 'Spend',
  run: ({ attempts }, { address }) => attempts.take({ action: 'gift "café"\r\n', address }),
});

const throttle = { tries: 3, accountTries: 4, addressTries: 5 };
const plugins: AuthOptions['plugins'] = [{ name: 'gifts', endpoints: [spend] }];

const limitOf = ({ status, headers }: Answer): unknown[] => [
  status,
  headers['retry-after'],
  headers['ratelimit-policy'],
  headers['ratelimit'],
];
const guess = (app: AuthApp, email: string): Promise<Answer> =>
  app.post('/api/auth/login', { email, password: 'not the password' });

describe.each(PLATFORMS)('limits on %s', (platform) => {
  const start = (rateLimitHeaders?: boolean): Promise<AuthApp> =>
    startAuth(platform, {
      auth: { plugins, throttle: { ...throttle, ...(rateLimitHeaders !== undefined && { rateLimitHeaders }) } },
      imports: [CrossOrigin],
    });

  it('are described by 429, and by no answer before', async () => {
    const app = await start(true);
    const email = 'ann@shop.example';
    for (let count = 0; count < 3; count += 1)
      expect(limitOf(await guess(app, email))).toEqual([401, undefined, undefined, undefined]);
    const refused = await guess(app, email);
    expect(limitOf(refused)).toEqual([429, '1', '"password";q=3;w=3600', '"password";r=0;t=1']);
    expect(refused.headers['access-control-expose-headers']).toMatch(/, RateLimit, RateLimit-Policy$/);
    await app.close();
  });

  it('do not say which of them is used up', async () => {
    const app = await start(true);
    // The address has used up its own limit, by other accounts.
    for (let count = 0; count < 5; count += 1) await guess(app, `user${count}@shop.example`);
    expect(limitOf(await guess(app, 'ann@shop.example'))).toEqual([
      429,
      '1',
      '"password";q=3;w=3600',
      '"password";r=0;t=1',
    ]);
    await app.close();
  });

  it('have a name that a header can hold', async () => {
    const app = await start(true);
    const answers: Answer[] = [];
    for (let count = 0; count < 6; count += 1) answers.push(await app.post('/api/auth/spend', {}));
    expect(limitOf(answers.at(-1) as Answer)).toEqual([
      429,
      '1',
      '"gift _caf____";q=5;w=3600',
      '"gift _caf____";r=0;t=1',
    ]);
    await app.close();
  });

  it.each([undefined, false])('are not described without the option: %s', async (rateLimitHeaders) => {
    const app = await start(rateLimitHeaders);
    for (let count = 0; count < 3; count += 1) await guess(app, 'ann@shop.example');
    const refused = await guess(app, 'ann@shop.example');
    expect(limitOf(refused)).toEqual([429, '1', undefined, undefined]);
    expect(refused.headers['access-control-expose-headers']).toMatch(/X-Total-Count$/);
    await app.close();
  });
});

it('the option rateLimitHeaders is true or false', () => {
  const options = { ...AUTH, throttle: { rateLimitHeaders: 'yes' } } as unknown as AuthOptions;
  const refused = '`throttle.rateLimitHeaders` must be true or false, got "yes". Set one of the two.';
  expect(() => AuthModule.forRoot(options)).toThrow(refused);
});
