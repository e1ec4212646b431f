/** QUERY is governed as GET of the same path, whatever decides: rules by pattern, decorators, options of the resource. */
import { Get, Injectable, UseGuards, type CanActivate } from '@nestjs/common';
import {
  AccessReport,
  Authenticated,
  CrudController,
  Public,
  Roles,
  type AuthOptions,
  type CrudOptions,
  type CrudResource,
  type ListQuery,
} from 'declarest';
import { accessMatrix } from 'declarest/testing';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AccessRules } from '../../lib/access/access-rules.js';
import { explain } from '../../lib/reach/explain.js';
import { compileReach } from '../../lib/reach/reach.js';
import { authModule, securityConfig, type Declare } from '../access/ruled-app.js';
import { startCrud } from '../crud/service.js';
import { claims, makeToken } from '../harness/tokens.js';
import { linesOf, PLATFORMS, type Platform } from '../harness/platforms.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @Column({ type: 'integer', default: 1 }) ownerId!: number;
}

const OPTIONS = {
  entity: Note,
  endpoint: '/notes',
  enableQueryMethod: true,
  enablePagination: true,
  filterableFields: true,
} as const satisfies CrudOptions<Note>;

const start = async (
  platform: Platform,
  resource: CrudResource,
  rules?: Declare,
  options: Partial<AuthOptions> = { defaultAccess: 'denied' },
) => {
  const service = await startCrud(platform, {
    entities: [Note],
    resources: [resource],
    imports: [authModule(options)],
    providers: rules ? [securityConfig(rules)] : [],
    isDescribed: false,
  });
  await service.dataSource.getRepository(Note).save([
    { text: 'one', ownerId: 1 },
    { text: 'two', ownerId: 2 },
  ]);
  return service;
};

type Service = Awaited<ReturnType<typeof start>>;

const CALLERS = { nobody: undefined, user: ['USER'], admin: ['ADMIN'], editor: ['EDITOR'] } as const;

/** Status and body of GET and of QUERY by caller. */
const tokenOf = (roles: readonly string[]): string => `Bearer ${makeToken({ payload: claims({ sub: '2', roles }) })}`;

async function answersOf({ send }: Service, path = '/notes') {
  const answers: Record<string, unknown[]> = {};
  for (const [name, roles] of Object.entries(CALLERS)) {
    const headers = roles ? { authorization: tokenOf(roles) } : {};
    const answer = async (method: string) => {
      const {
        status,
        json,
        headers: sent,
      } = await send(method, path, {
        ...(method === 'QUERY' && { json: {} }),
        headers: { ...headers, ...(method === 'QUERY' && { 'content-type': 'application/json' }) },
      });
      return {
        status,
        json: { ...json, timestamp: 0 },
        cache: sent['cache-control'],
        challenge: sent['www-authenticate'],
      };
    };
    answers[name] = [await answer('GET'), await answer('QUERY')];
  }
  return answers;
}

async function expectAlike(service: Service, statuses: readonly number[], path?: string): Promise<void> {
  const answers = await answersOf(service, path);
  for (const [caller, [get, query]] of Object.entries(answers)) expect([caller, query]).toEqual([caller, get]);
  expect(Object.values(answers).map(([, query]) => (query as { status: number }).status)).toEqual(statuses);
}

@Injectable()
class EditorsOnly implements CanActivate {
  canActivate(context: Parameters<CanActivate['canActivate']>[0]): boolean {
    const { user } = context.switchToHttp().getRequest<{ user?: { roles: string[] } }>();
    return user?.roles.includes('EDITOR') === true;
  }
}

class RolesOnMethod extends CrudController(OPTIONS) {
  @Roles('EDITOR')
  @Get()
  override async findAll(query: ListQuery): Promise<unknown> {
    return super.findAll(query);
  }
}
class PublicMethod extends CrudController(OPTIONS) {
  @Public()
  @Get()
  override async findAll(query: ListQuery): Promise<unknown> {
    return super.findAll(query);
  }
}
class GuardOnMethod extends CrudController(OPTIONS) {
  @UseGuards(EditorsOnly)
  @Get()
  override async findAll(query: ListQuery): Promise<unknown> {
    return super.findAll(query);
  }
}
@Roles('ADMIN')
class RolesOnClass extends CrudController(OPTIONS) {}
@Authenticated()
class TokenOnClass extends CrudController(OPTIONS) {}

const RULES: readonly (readonly [string, CrudResource, Declare, readonly number[]])[] = [
  ['a permission for GET', OPTIONS, (rules) => rules.publicEndpoints('GET /notes'), [200, 200, 200, 200]],
  ['a permission for every method', OPTIONS, (rules) => rules.publicEndpoints('/notes/**'), [200, 200, 200, 200]],
  ['a permission for POST only', OPTIONS, (rules) => rules.publicEndpoints('POST /notes'), [401, 403, 403, 403]],
  ['a permission for QUERY only', OPTIONS, (rules) => rules.publicEndpoints('QUERY /notes'), [401, 403, 403, 403]],
  [
    'a role for GET below a permission',
    OPTIONS,
    (rules) => (rules.publicEndpoints('/notes/**'), rules.requireRole('ADMIN', 'GET /notes')),
    [401, 403, 200, 403],
  ],
  [
    'a role for POST below a permission',
    OPTIONS,
    (rules) => (rules.publicEndpoints('/notes/**'), rules.requireRole('ADMIN', 'POST /notes')),
    [200, 200, 200, 200],
  ],
  ['the default access', OPTIONS, (rules) => rules.publicEndpoints('/other'), [401, 403, 403, 403]],
  ['`access` of the resource', { ...OPTIONS, access: { read: ['EDITOR'] } }, () => undefined, [401, 403, 403, 200]],
  [
    '`access.findAll`',
    { ...OPTIONS, access: { read: 'public', findAll: ['ADMIN'] } },
    () => undefined,
    [401, 403, 200, 403],
  ],
  ['@Roles() of the override', RolesOnMethod, (rules) => rules.requireAuth('/notes'), [401, 403, 403, 200]],
  ['@Public() of the override', PublicMethod, (rules) => rules.requireAuth('/notes'), [200, 200, 200, 200]],
  ['a guard of the override', GuardOnMethod, (rules) => rules.publicEndpoints('/notes'), [403, 403, 403, 200]],
  ['@Roles() of the class', RolesOnClass, (rules) => rules.requireAuth('/**'), [401, 403, 200, 403]],
  ['@Authenticated() of the class', TokenOnClass, () => undefined, [401, 200, 200, 200]],
];

describe.each(PLATFORMS)('[3.6] QUERY on %s', (platform) => {
  it.each(RULES)('is governed as GET by %s', async (_, resource, rules, statuses) => {
    const service = await start(platform, resource, rules);
    await expectAlike(service, statuses);
    expect((await accessMatrix(service.app)).filter(({ agrees }) => !agrees)).toEqual([]);
    const accessOf = (method: string) =>
      service.app
        .get(AccessReport, { strict: false })
        .rows.find((row) => row.method === method && row.path === '/notes');
    expect(accessOf('QUERY')).toEqual({ ...accessOf('GET'), method: 'QUERY' });
    await service.close();
  });

  it('stays closed where a rule restricts QUERY itself, of which a warning says that it is unused', async () => {
    const service = await start(platform, OPTIONS, (rules) => {
      rules.publicEndpoints('/notes/**');
      rules.requireRole('ADMIN', 'QUERY /notes');
    });
    const answers = await answersOf(service);
    expect(Object.values(answers).map((each) => each.map((answer) => (answer as { status: number }).status))).toEqual([
      [200, 401],
      [200, 403],
      [200, 200],
      [200, 403],
    ]);
    expect(linesOf(service.logs, 'warn').join('\n')).toContain('QUERY /notes');
    await service.close();
  });

  it('has the rows and fields of GET', async () => {
    const service = await start(
      platform,
      {
        ...OPTIONS,
        owner: { field: 'ownerId', reads: true, except: ['ADMIN'] },
        fieldPermissions: { text: { read: ['ADMIN'] } },
      },
      (rules) => rules.requireAuth('/notes/**'),
    );
    await expectAlike(service, [401, 200, 200, 200]);
    const authorization = tokenOf(['EDITOR']);
    const hidden = await service.send('QUERY', '/notes', {
      json: { filter: { text: 'two' } },
      headers: { authorization, 'content-type': 'application/json' },
    });
    expect(hidden.status).toBe(400);
    const answers = await answersOf(service);
    expect(answers['editor']?.[1]).toMatchObject({ json: { data: [{ id: 2, ownerId: 2 }] } });
    await service.close();
  });

  it('is explained, and has its rows in the table of access', async () => {
    const service = await start(platform, { ...OPTIONS, owner: { field: 'ownerId', reads: true } }, (rules) =>
      rules.requireRole('EDITOR', 'GET /notes'),
    );
    const compiled = service.app.get(AccessRules, { strict: false }).compiled;
    if (!compiled) throw new Error('the rules are compiled');
    const explained = (method: string) => explain(compiled, { method, path: '/notes', roles: ['USER'] });
    expect({ ...explained('QUERY'), route: 0, method: 0, template: 0 }).toEqual({
      ...explained('GET'),
      route: 0,
      method: 0,
      template: 0,
    });
    const [resource] = (await compileReach(service.app, compiled)).resources;
    const rows = resource?.rows ?? {};
    expect(rows['QUERY /notes']).toEqual(rows['GET /notes']);
    expect(rows['QUERY /notes']).toBeDefined();
    await service.close();
  });

  it('refuses before it says anything about the body', async () => {
    const service = await start(platform, OPTIONS, (rules) => rules.requireRole('ADMIN', 'GET /notes'));
    const form = 'application/x-www-form-urlencoded';
    const bodies: [string, string | undefined][] = [
      ['{', 'application/json'],
      ['{"__proto__": {}}', 'application/json'],
      ['x', 'text/csv'],
      ['x', 'application/json; charset=no-such'],
      ['x', undefined],
      ['x'.repeat(300_000), form],
      [JSON.stringify('x'.repeat(3_000_000)), 'application/json'],
    ];
    for (const [body, type] of bodies) {
      const sent = { body, headers: type === undefined ? {} : { 'content-type': type } };
      const anonymous = await service.send('QUERY', '/notes', sent);
      expect([type, anonymous.status, anonymous.json]).toEqual([type, 401, { error: 'Authentication required' }]);
      const authorization = tokenOf(['USER']);
      const user = await service.send('QUERY', '/notes', { ...sent, headers: { ...sent.headers, authorization } });
      expect([type, user.status, user.json]).toEqual([type, 403, { error: 'Admin access required' }]);
    }
    await service.close();
  });

  it.each(['HEAD', 'GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'])('is not what a header makes of %s', async (method) => {
    const service = await start(platform, OPTIONS, (rules) => rules.requireRole('ADMIN', '/notes'));
    const sent = {
      headers: { 'x-http-method-override': 'QUERY', 'x-method-override': 'QUERY', 'content-type': 'application/json' },
    };
    const plain = await service.send(method, '/notes');
    const overridden = await service.send(method, '/notes', sent);
    expect(overridden.status).toBe(plain.status);
    await service.close();
  });

  it('serves the two controllers of one generated class, each with its own decorators', async () => {
    const Generated = CrudController({ ...OPTIONS, endpoint: '/open' });
    @Roles('ADMIN')
    class Closed extends Generated {}
    const { Controller } = await import('@nestjs/common');
    Controller('/closed')(Closed);
    const service = await startCrud(platform, {
      entities: [Note],
      resources: [Generated, Closed],
      imports: [authModule({ defaultAccess: 'authenticated' })],
      providers: [securityConfig((rules) => rules.publicEndpoints('/open'))],
      isDescribed: false,
    });
    await expectAlike(service as Service, [200, 200, 200, 200], '/open');
    await expectAlike(service as Service, [401, 403, 200, 403], '/closed');
    await service.close();
  });
});
