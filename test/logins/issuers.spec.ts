/** Runs each recipe of packages/declarest-logins/README.md with tokens of the shape that its issuer documents, signed by keys on loopback. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthenticateOption } from 'declarest';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { type Compiled, compile, REPOSITORY } from '../compiled.js';
import { type Block, blocksOf } from '../docs-blocks.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { type NotesApp, startNotes } from './notes-app.js';

interface Recipe {
  /** The heading in packages/declarest-logins/README.md, and the number of its block. */
  readonly of: readonly [heading: string, block?: number];
  /** The header of its tokens, without `kid`. */
  readonly header?: { readonly alg?: string; readonly typ?: string | undefined };
  readonly claims: Readonly<Record<string, unknown>>;
  readonly user: object;
  /** Other tokens of the issuer, and of others: the claims that differ. */
  readonly refused: Readonly<Record<string, object>>;
  readonly send?: (token: string) => Record<string, string>;
}

const SECRET = 'the JWT secret of an old project of Supabase';
const [FIRST, SECOND] = ['22222222-2222-2222-2222-222222222222', '33333333-3333-3333-3333-333333333333'];
const ENTRA = 'https://login.microsoftonline.com';
const API = '11111111-1111-1111-1111-111111111111';
const asBearer = (token: string) => ({ authorization: `Bearer ${token}` });

const KEYCLOAK = {
  iss: 'https://login.example/realms/shop',
  aud: ['shop-api', 'account'],
  sub: '5f0f8e4b-0c1d-4a4e-9d0e-2c6f2f0f8a11',
  typ: 'Bearer',
  azp: 'shop-web',
  sid: '0f8f4c52',
  acr: '1',
  'allowed-origins': ['https://shop.example'],
  realm_access: { roles: ['ADMIN', 'offline_access'] },
  resource_access: { 'shop.api': { roles: ['EDITOR'] }, account: { roles: ['view-profile'] } },
  scope: 'openid email profile',
  email_verified: true,
  email: 'ann@shop.example',
  preferred_username: 'ann',
};
const KEYCLOAK_REFUSED = {
  'for another audience': { aud: 'account' },
  'of another realm': { iss: 'https://login.example/realms/other' },
  'that is an ID token': { typ: 'ID', aud: 'shop-api', at_hash: 'x' },
  'that is a refresh token': { typ: 'Refresh' },
};

const ENTRA_CLAIMS = {
  iss: `${ENTRA}/${FIRST}/v2.0`,
  aud: API,
  sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
  oid: '44444444-4444-4444-4444-444444444444',
  tid: FIRST,
  azp: '55555555-5555-5555-5555-555555555555',
  azpacr: '0',
  preferred_username: 'ann@shop.example',
  roles: ['ADMIN'],
  scp: 'access_as_user',
  ver: '2.0',
  uti: 'x',
  rh: 'y',
};

const SUPABASE = {
  iss: 'https://example.supabase.co/auth/v1',
  aud: 'authenticated',
  sub: '123e4567-e89b-12d3-a456-426614174000',
  role: 'authenticated',
  aal: 'aal1',
  session_id: '123e4567-e89b-12d3-a456-426614174001',
  email: 'ann@example.com',
  phone: '',
  is_anonymous: false,
  app_metadata: { provider: 'email', providers: ['email'], roles: ['ADMIN'] },
  user_metadata: { roles: ['OWNER'] },
  amr: [{ method: 'password', timestamp: 1_640_991_600 }],
};
const SUPABASE_USER = { id: SUPABASE.sub, email: SUPABASE.email, roles: ['ADMIN'], isAnonymous: false };
const SUPABASE_REFUSED = {
  'of another project': { iss: 'https://other.supabase.co/auth/v1' },
  'that is the key `anon`': { iss: 'supabase', role: 'anon', aud: undefined, sub: undefined },
  'for the role `anon`': { aud: 'anon', role: 'anon' },
};

const RECIPES: readonly Recipe[] = [
  {
    of: ['Keycloak'],
    claims: KEYCLOAK,
    user: { id: KEYCLOAK.sub, email: 'ann@shop.example', roles: ['ADMIN', 'offline_access'] },
    refused: KEYCLOAK_REFUSED,
  },
  {
    of: ['Keycloak', 1],
    claims: KEYCLOAK,
    user: { id: KEYCLOAK.sub, email: 'ann@shop.example', roles: ['ADMIN', 'offline_access', 'EDITOR'] },
    refused: KEYCLOAK_REFUSED,
  },
  {
    of: ['Auth0'],
    claims: {
      iss: 'https://shop.eu.auth0.com/',
      aud: ['https://api.shop.example', 'https://shop.eu.auth0.com/userinfo'],
      sub: 'auth0|507f1f77bcf86cd799439011',
      azp: 'client',
      scope: 'openid profile email',
      'https://shop.example/roles': ['ADMIN'],
    },
    user: { id: 'auth0|507f1f77bcf86cd799439011', email: '', roles: ['ADMIN'] },
    refused: {
      'for another API': { aud: ['https://other.shop.example', 'https://shop.eu.auth0.com/userinfo'] },
      'without the slash': { iss: 'https://shop.eu.auth0.com' },
      'that is an ID token': { aud: 'client', nonce: 'x', email: 'ann@shop.example' },
    },
  },
  {
    of: ['Entra'],
    claims: {
      ...ENTRA_CLAIMS,
      iss: `${ENTRA}/00000000-0000-0000-0000-000000000000/v2.0`,
      tid: '00000000-0000-0000-0000-000000000000',
    },
    user: { id: ENTRA_CLAIMS.oid, email: '', roles: ['ADMIN'] },
    refused: {
      'for another API': { aud: ENTRA_CLAIMS.azp },
      'of another tenant': { iss: `${ENTRA}/${FIRST}/v2.0`, tid: FIRST },
      'that is an ID token': { nonce: 'x', scp: undefined },
    },
  },
  {
    of: ['Entra with many tenants'],
    claims: ENTRA_CLAIMS,
    user: { id: `${FIRST}/${ENTRA_CLAIMS.oid}`, tenantId: FIRST, email: '', roles: ['ADMIN'] },
    refused: {
      'for another API': { aud: ENTRA_CLAIMS.azp },
      'of a tenant that is not listed': { iss: `${ENTRA}/${API}/v2.0`, tid: API },
      'whose `tid` is another tenant': { tid: SECOND },
      'of no tenant': { iss: `${ENTRA}/{tenantid}/v2.0`, tid: undefined },
      'whose `tid` is the placeholder': { iss: `${ENTRA}/{tenantid}/v2.0`, tid: '{tenantid}' },
      'whose `tid` is a path': { iss: `${ENTRA}/common/v2.0`, tid: 'common' },
      'whose `tid` is a list': { tid: [FIRST] },
    },
  },
  {
    of: ['Cognito'],
    header: { typ: undefined },
    claims: {
      iss: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_example',
      sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      client_id: 'the-id-of-the-app-client',
      origin_jti: 'x',
      event_id: 'y',
      token_use: 'access',
      scope: 'aws.cognito.signin.user.admin',
      auth_time: 1_700_000_000,
      username: 'ann',
      'cognito:groups': ['ADMIN'],
    },
    user: { id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', email: '', roles: ['ADMIN'] },
    refused: {
      'of another client': { client_id: 'other' },
      'that is an ID token': { token_use: 'id', aud: 'the-id-of-the-app-client', client_id: undefined },
    },
  },
  {
    of: ['Okta'],
    header: { typ: undefined },
    claims: {
      ver: 1,
      jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
      iss: 'https://shop.okta.com/oauth2/default',
      aud: 'api://default',
      cid: '0oaexample',
      uid: '00uexample',
      scp: ['openid'],
      sub: 'ann@shop.example',
      groups: ['ADMIN'],
    },
    user: { id: '00uexample', email: '', roles: ['ADMIN'] },
    refused: {
      'for another API': { aud: 'api://other' },
      'of the organization server': { iss: 'https://shop.okta.com' },
      'that is an ID token': { aud: '0oaexample', at_hash: 'x', sub: '00uexample' },
    },
  },
  {
    of: ['Zitadel'],
    claims: {
      iss: 'https://shop.zitadel.cloud',
      aud: ['234567890123456789', '123456789012345678'],
      sub: '345678901234567890',
      client_id: '234567890123456789',
      'urn:zitadel:iam:org:project:roles': { ADMIN: { '456789012345678901': 'shop.zitadel.cloud' }, EDITOR: {} },
    },
    user: { id: '345678901234567890', email: '', roles: ['ADMIN', 'EDITOR'] },
    refused: {
      'for another project': { aud: ['234567890123456789'] },
      'that is an ID token': { at_hash: 'x', nonce: 'y', azp: '234567890123456789', client_id: undefined },
    },
  },
  {
    of: ['Supabase'],
    header: { alg: 'ES256' },
    claims: SUPABASE,
    user: SUPABASE_USER,
    refused: SUPABASE_REFUSED,
  },
  {
    of: ['Old Supabase projects'],
    header: { alg: 'HS256' },
    claims: SUPABASE,
    user: SUPABASE_USER,
    refused: SUPABASE_REFUSED,
  },
  {
    of: ['Firebase'],
    claims: {
      iss: 'https://securetoken.google.com/shop-project',
      aud: 'shop-project',
      auth_time: 1_700_000_000,
      user_id: 'Xk893u23H9SJ893',
      sub: 'Xk893u23H9SJ893',
      email: 'ann@shop.example',
      email_verified: false,
      roles: ['ADMIN'],
      firebase: { identities: { email: ['ann@shop.example'] }, sign_in_provider: 'password' },
    },
    user: { id: 'Xk893u23H9SJ893', email: '', roles: ['ADMIN'], provider: 'password' },
    refused: {
      'of another project': { iss: 'https://securetoken.google.com/other', aud: 'other' },
      'for another project': { aud: 'other' },
      'that is a custom token': { iss: 'a@shop-project.iam.gserviceaccount.com', uid: 'x' },
    },
  },
  ...[asBearer, (token: string) => ({ cookie: `a=1; __session=${token}` })].map((send) => ({
    of: ['Clerk'] as const,
    claims: {
      iss: 'https://clerk.shop.example',
      azp: 'https://shop.example',
      sub: 'user_123',
      sid: 'sess_123',
      v: 2,
      fva: [7, -1],
      sts: 'active',
      pla: 'o:pro',
      o: { id: 'org_123', rol: 'admin', slg: 'shop', per: 'read', fpm: '3' },
    },
    user: { id: 'user_123', email: '', roles: ['admin'], tenantId: 'org_123' },
    refused: {
      'of another page': { azp: 'https://evil.example' },
      'of no page': { azp: undefined },
      'of another instance': { iss: 'https://clerk.other.example' },
      'for another audience': { aud: 'other' },
    },
    send,
  })),
  {
    of: ['WorkOS AuthKit'],
    claims: {
      iss: 'https://api.workos.com/user_management/client_01EXAMPLE',
      sub: 'user_01HBEQKA6K4QJAS93VPE39W1JT',
      org_id: 'org_01HRDMC6CM357W30QMHMQ96Q0S',
      role: 'member',
      roles: ['member'],
      permissions: ['posts:read'],
      entitlements: ['audit-logs'],
      sid: 'session_01HQSXZGF8FHF7A9ZZFCW4387R',
      jti: '01HQSXZXPPFPKMDD32RKTFY6PV',
    },
    user: {
      id: 'user_01HBEQKA6K4QJAS93VPE39W1JT',
      email: '',
      roles: ['member'],
      tenantId: 'org_01HRDMC6CM357W30QMHMQ96Q0S',
    },
    refused: { 'of another client': { iss: 'https://api.workos.com/user_management/client_02OTHER' } },
  },
  {
    of: ['Kubernetes'],
    header: { typ: undefined },
    claims: {
      iss: 'https://kubernetes.default.svc.cluster.local',
      aud: ['shop-api'],
      sub: 'system:serviceaccount:shop:worker',
      jti: 'e51f1fbc-4733-4b85-a59f-ba80c0523874',
      'kubernetes.io': {
        namespace: 'shop',
        node: { name: 'node-1', uid: 'x' },
        pod: { name: 'worker-1', uid: 'y' },
        serviceaccount: { name: 'worker', uid: 'z' },
      },
    },
    user: { id: 'system:serviceaccount:shop:worker', email: '', roles: [], namespace: 'shop', account: 'worker' },
    refused: { 'for the API server': { aud: ['https://kubernetes.default.svc.cluster.local'] } },
  },
  {
    of: ['GitHub Actions'],
    claims: {
      iss: 'https://token.actions.githubusercontent.com',
      aud: 'https://api.shop.example',
      sub: `repo:shop/web:${'environment:x,'.repeat(30)}`,
      jti: 'example-id',
      repository: 'shop/web',
      repository_id: '123456789',
      repository_owner: 'shop',
      repository_owner_id: '65',
      repository_visibility: 'private',
      actor: 'ann',
      actor_id: '12',
      workflow: 'deploy',
      event_name: 'push',
      ref: 'refs/heads/main',
      ref_type: 'branch',
      job_workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/main',
      runner_environment: 'github-hosted',
      run_id: '1',
    },
    user: { id: 'github 123456789', email: '', roles: ['DEPLOY'] },
    refused: {
      'of another repository': { repository_id: '2' },
      'of another branch': { ref: 'refs/heads/other' },
      'for another API': { aud: 'https://github.com/shop' },
    },
  },
  {
    of: ['better-auth'],
    header: { alg: 'EdDSA', typ: undefined },
    claims: {
      iss: 'https://shop.example',
      aud: 'https://shop.example',
      sub: 'Xk893u23H9SJ893',
      id: 'Xk893u23H9SJ893',
      name: 'Ann',
      email: 'ann@shop.example',
      emailVerified: true,
      role: 'admin',
    },
    user: { id: 'Xk893u23H9SJ893', email: 'ann@shop.example', roles: ['admin'] },
    refused: { 'for another application': { aud: 'https://other.example' } },
  },
  {
    of: ['Cloudflare Access'],
    claims: {
      iss: 'https://shop.cloudflareaccess.com',
      aud: ['the-audience-tag-of-the-application'],
      email: 'ann@shop.example',
      type: 'app',
      identity_nonce: '6ei69kawdKzMIAPF',
      sub: '7335d417-61da-459d-899c-0a01c76a2f94',
      country: 'US',
      custom: { groups: ['ADMIN'] },
    },
    user: { id: '7335d417-61da-459d-899c-0a01c76a2f94', email: 'ann@shop.example', roles: ['ADMIN'] },
    refused: { 'for another application': { aud: ['other'] } },
    send: (token) => ({ 'cf-access-jwt-assertion': token }),
  },
  {
    of: ['Two issuers'],
    claims: { iss: 'https://login.example/realms/shop', aud: 'shop-api', sub: 'ann', typ: 'Bearer', roles: ['ADMIN'] },
    user: { id: 'ann', email: '', roles: ['ADMIN'] },
    refused: {
      'for the audience of the other issuer': { aud: 'https://api.shop.example' },
      'of a third issuer': { iss: 'https://login.example/realms/other' },
    },
  },
  {
    of: ['Two issuers'],
    claims: { iss: 'https://shop.eu.auth0.com/', aud: 'https://api.shop.example', sub: 'ann', roles: ['ADMIN'] },
    user: { id: 'customer|ann', email: '', roles: ['CUSTOMER'] },
    refused: { 'for the audience of the other issuer': { aud: 'shop-api' } },
  },
];

const path = 'packages/declarest-logins/README.md';
const [, text = ''] = (await readFile(join(REPOSITORY, path), 'utf8')).split('\n## Recipes for issuers\n');
const page = { path, text };
const blocks = blocksOf(page);

/** The blocks below a heading. */
function blocksBelow(heading: string): Block[] {
  const start = page.text.indexOf(`\n### ${heading}\n`);
  const section = page.text.slice(start + 1).split('\n### ')[0] as string;
  return start < 0 ? [] : blocks.filter(({ text }) => section.includes(text));
}

let server: Server;
let origin: string;
let folder: string;
let compiled: Compiled;
const keyPairs = Object.fromEntries(
  await Promise.all(
    ['RS256', 'ES256', 'EdDSA'].map(async (alg) => [alg, await generateKeyPair(alg, { extractable: true })] as const),
  ),
);
const keys: JWK[] = await Promise.all(
  Object.entries(keyPairs).map(async ([alg, { publicKey }]) => ({ ...(await exportJWK(publicKey)), kid: alg, alg })),
);

/** The servers of the recipes are folders of the one on loopback. */
const HOSTS = [...new Set(page.text.match(/(?<=(issuer: |jwksUri: |KEYS = )')https:\/\/[^/']+/g))];
const local = (text: string): string =>
  HOSTS.reduce(
    (replaced, host) => replaced.replaceAll(new RegExp(`${host}(?=[/'"])`, 'g'), `${origin}/${new URL(host).host}`),
    text,
  );

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declarest-issuers-'));
  await writeFile(join(folder, 'token'), 'own-token');
  server = createServer((request, response) => {
    const [found, base] = /^(.+)\/\.well-known\/openid-configuration$/.exec(String(request.url)) ?? [];
    const slash = base === '/shop.eu.auth0.com' ? '/' : '';
    const issuer = `${origin}${base?.replace('/common/', '/{tenantid}/')}${slash}`;
    if (found) return response.end(JSON.stringify({ issuer, jwks_uri: `${origin}/keys` }));
    const isClosed = request.url?.includes('/openid/v1/jwks') && request.headers.authorization !== 'Bearer own-token';
    return response.writeHead(isClosed ? 403 : 200).end(JSON.stringify(isClosed ? {} : { keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  const sources = blocks.map(({ file, text }) => [file, local(text).replace(path, join(folder, 'token'))]);
  compiled = await compile([], Object.fromEntries(sources));
  vi.stubEnv('SUPABASE_JWT_SECRET', SECRET);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await compiled.remove();
  await rm(folder, { recursive: true });
});

const rows = RECIPES.map((each) => [each.of.join(' '), each] as const);

it('each recipe has a token here, and at most 10 lines', () => {
  const tried = new Set(RECIPES.map(({ of: [heading, block = 0] }) => blocksBelow(heading)[block]?.file));
  expect(blocks.filter(({ file }) => !tried.has(file)).map(({ title }) => title)).toEqual([]);
  const long = blocks.filter(({ text }) => text.split('\n').filter((line) => line.trim() !== '').length > 10);
  expect(long.map(({ title }) => title)).toEqual([]);
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: NotesApp;
  afterEach(() => app?.close());

  it.each(rows)('%s', async (_title, { of: [heading, block = 0], header, claims, user, refused, send = asBearer }) => {
    const { file } = blocksBelow(heading)[block] as Block;
    const { authenticate } = (await import(join(compiled.directory, file.replace(/\.ts$/, '.js')))) as {
      authenticate: AuthenticateOption;
    };
    app = await startNotes(platform, { authenticate });
    const sign = (changed: object = {}, alg = header?.alg ?? 'RS256'): Promise<string> =>
      new SignJWT({
        exp: Math.floor(Date.now() / 1000) + 300,
        ...JSON.parse(local(JSON.stringify({ ...claims, ...changed }))),
      })
        .setProtectedHeader({ typ: 'JWT', kid: alg, ...header, alg } as JWTHeaderParameters)
        .sign(alg === 'HS256' ? Buffer.from(SECRET) : keyPairs[alg]!.privateKey);
    const ask = (token: string) => app.get('/api/me', { headers: send(token) });

    const accepted = await ask(await sign());
    expect([accepted.status, accepted.json]).toEqual([200, user]);
    for (const [what, changed] of Object.entries(refused))
      expect([what, (await ask(await sign(changed))).status]).toEqual([what, 401]);
    expect((await app.get('/api/me')).status).toBe(401);
    expect((await ask(await sign({ cnf: { jkt: 'thumbprint' } }))).status).toBe(401);
    // A secret counts only where it is the key, and then no published key does.
    const other = header?.alg === 'HS256' ? 'RS256' : 'HS256';
    expect((await ask(await sign({}, other))).status).toBe(401);
    const warnings = linesOf(app.logs, 'warn').filter((line) => line.includes('`audience: false`'));
    expect(warnings).toHaveLength(heading === 'WorkOS AuthKit' ? 1 : 0);
  });
});
