/** What a decision about a request does when it fails, and how much it reads. */
import { type INestApplication } from '@nestjs/common';
import { SecurityRulesGuard } from 'declarest';
import { makeRoute } from '../../../lib/routes/route.js';
import { AUTHENTICATED, type Rule } from '../../../lib/access/decide.js';
import { parsePattern } from '../../../lib/access/pattern.js';
import { AccessRules } from '../../../lib/access/access-rules.js';
import { Credentials } from '../../../lib/access/identity/authenticator.js';
import { compileRouteAccess } from '../../../lib/access/route-access.js';
import { PLATFORMS } from '../../harness/platforms.js';
import { rawTarget } from '../../harness/raw-socket.js';
import { bearer, startRuled, TOKENS } from '../../access/ruled-app.js';

describe.each(PLATFORMS)('a decision that fails on %s', (platform) => {
  const secretError = new Error('SELECT canary FROM secrets');
  const fails = (): never => {
    throw secretError;
  };

  it.each<[what: string, targetOf: (app: INestApplication) => object | undefined, value: object]>([
    ['the rules throw', (app) => app.get(AccessRules, { strict: false }).compiled, { ofRoute: fails }],
    [
      'the roles of the token throw',
      (app) => app.get(AccessRules, { strict: false }).compiled,
      { roles: { expand: fails } },
    ],
    ['reading the token throws', (app) => app.get(Credentials, { strict: false }).readers, [{ read: fails }]],
    ['the guard itself says no', (app) => app.get(SecurityRulesGuard, { strict: false }), { canActivate: () => false }],
  ])('[3.5] any exception in the decision is a denial: %s', async (_, targetOf, value) => {
    const app = await startRuled(platform, {
      routes: ['GET protected', 'ALL partly/:id'],
      rules: ({ requireAuth }) => requireAuth('/protected', '/partly/x'),
    });
    Object.assign(targetOf(app.app)!, value);
    for (const path of ['/protected', '/partly/x', '/partly/y'])
      for (const who of ['ANYBODY', 'USER', 'ADMIN'] as const) {
        const answer = await rawTarget(app.port, path, { headers: bearer(TOKENS[who]) });
        expect([401, 403]).toContain(answer.status);
        expect(answer.raw.toString('latin1')).not.toContain('canary');
      }
    expect(app.entered).toEqual([]);
    await app.close();
  });
});

it('[3.5] a decision reads as much with 200 rules as with 2', () => {
  // Every property of a rule that is read at decision time is counted, and so is every key that is looked up.
  let read = 0;
  const ruleOf = (text: string, kind: 'public' | 'authenticated'): Rule =>
    new Proxy(
      { pattern: parsePattern(text, 'Test'), effect: { kind }, declaredBy: 'Test' },
      {
        get: (target, name) => {
          read += 1;
          return Reflect.get(target, name) as unknown;
        },
      },
    );
  const countsWith = (others: number): [properties: number, keys: number] => {
    const rules = [
      ruleOf('/a/**', 'public'),
      ruleOf('/a/me', 'authenticated'),
      ...Array.from({ length: others }, (_, index) => ruleOf(`/a/other${index}`, 'authenticated')),
    ];
    const route = makeRoute('GET', '/a/:id', () => {});
    const access = compileRouteAccess([route], { rules, fallback: AUTHENTICATED }, true);
    const lookUps = vi.spyOn(Map.prototype, 'get');
    read = 0;
    for (const id of ['me', '7']) access.of('/a/:id', 'GET')!({ path: `/a/${id}`, params: { id } });
    const counts: [number, number] = [read, lookUps.mock.calls.length];
    lookUps.mockRestore();
    return counts;
  };
  expect(countsWith(200)).toEqual(countsWith(2));
});
