/** The snapshot of a clinic, and the lines of its changes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CrudController, externalTokens } from 'declarest';
import { jwks } from 'declarest-logins/jwks';
import { changesOf, clinic, OPTIONS, Patient, readSnapshot, writeSnapshot, type Change } from './clinic.js';

const folder = mkdtempSync(join(tmpdir(), 'declarest-snapshot-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('is the same on both platforms, and when it is read again', async () => {
  const table = await clinic();
  const file = join(folder, 'access.json');
  writeFileSync(file, writeSnapshot(table));
  const known = readSnapshot(file)!;
  expect(known).toEqual(JSON.parse(JSON.stringify(table)));
  expect(changesOf(known, await clinic({}, 'fastify'))).toEqual([]);
});

it('has options and hashes of code by name, and no secret or hash of one', async () => {
  const secrets = ['a-secret-of-the-clinic-with-40-characters', 'another-secret-of-the-clinic-40-characters'];
  const users = externalTokens({
    authenticate: jwks({ issuer: 'https://login.clinic.example', audience: ['clinic', 'desk'] }),
    userOf: () => null,
  });
  const [one, other] = await Promise.all(
    secrets.map((jwtSecret) => clinic({ auth: { jwtSecret }, plugins: (all) => [...all, users] })),
  );
  const text = writeSnapshot(one!);
  expect(text).toBe(writeSnapshot(other!));
  for (const secret of secrets) expect(text).not.toContain(secret);
  const hash = expect.stringMatching(/^#[0-9a-f]{8}$/);
  expect(one!.code).toMatchObject({
    'policy onDuty': hash,
    'guard TenantGuard': hash,
    'hook beforeCreate of /api/messages': hash,
    'plugin waitingList': hash,
    'AuthModule claims': hash,
    'AuthModule audience': 'requires clinic',
    'every route': 'guard TenantGuard',
    'GET /api/wards': 'guard DeskGuard',
    'GET /api/reports/desk': expect.stringMatching(/^#[0-9a-f]{8}, guard DeskGuard$/),
    'view Reception': hash,
    'externalTokens issuer': 'https://login.clinic.example',
    'externalTokens audience': 'clinic, desk',
    'externalTokens userOf': hash,
    'secondFactor factor': 'requires a factor of ADMIN, requires a factor of users who have one',
    'sessions accessTokenSeconds': '900',
  });
  // Guards and interceptors of the package are none of the application.
  expect(Object.keys(one!.code).filter((name) => /^(guard|interceptor|pipe) /.test(name))).toEqual([
    'guard DeskGuard',
    'guard TenantGuard',
  ]);
});

const EVERYBODY = CrudController({
  entity: Patient,
  endpoint: '/api/everybody',
  operations: ['findAll', 'findById', 'delete'],
});

it.each<[name: string, change: Change, lines: (string | RegExp)[]]>([
  [
    'a scope that operations and relations have',
    { options: { Ward: { scope: undefined } } },
    [
      /^wider USER, .*: GET \/api\/wards: was tenantId = :tenantId, is all, in 6 places$/,
      'wider DOCTOR, NURSE: Ward through Patient.ward: was tenantId = :tenantId, is all',
    ],
  ],
  [
    'the scope of a nested resource',
    { options: { Prescription: { scope: undefined } } },
    [/^wider USER, .*: GET \/api\/patients\/:patientId\/prescriptions: was .*, is patient .*, in 6 places$/],
  ],
  [
    'the rule of all routes',
    { without: ['auth'] },
    ['rules GET /api/wards: any token (Security.requireAuth("/api/**")) -> any token (default), in 69 places'],
  ],
  [
    'a role that includes another one',
    { auth: { roleHierarchy: { DOCTOR: ['NURSE'], NURSE: ['BILLING'] } } },
    [
      /^wider GET \/api\/invoices: BILLING .* -> BILLING or DOCTOR or NURSE .*, in 6 places$/,
      'wider DOCTOR, NURSE: Invoice.internal was not writable in new records, is writable in new records',
      'wider DOCTOR, NURSE: Invoice.internal was not writable, is writable',
    ],
  ],
  [
    'a guard of a controller',
    { extend: { Ward: (Base) => class Wards extends Base {} } },
    ['look GET /api/wards: no longer guard DeskGuard, in 6 places'],
  ],
  ['the guard of all routes', { guards: [] }, ['look every route: no longer guard TenantGuard']],
])('has one line for one cause: %s', async (_name, change, lines) => {
  const changes = changesOf(await clinic(), await clinic(change));
  expect(changes.map(({ kind, sentence }) => `${kind} ${sentence}`)).toEqual(
    lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
  );
});

it('says the rows and fields of what is new, and nothing else of it', async () => {
  const changes = changesOf(await clinic(), await clinic({ resources: [EVERYBODY] }));
  const everyone = 'USER, BILLING, DOCTOR, LOGIN, NURSE, ADMIN, KEY';
  const fields = 'id, tenantId, name, phone, risk, doctorId, wardId';
  expect(changes.filter(({ sentence }) => sentence.includes('everybody'))).toEqual([
    {
      kind: 'wider',
      sentence: `${everyone}: GET /api/everybody is new: reaches all of Patient, with the fields ${fields}, in 2 places`,
    },
    { kind: 'wider', sentence: `${everyone}: DELETE /api/everybody/:id is new: reaches all of Patient` },
  ]);
});

it('names the code of an override as an alternative to its owner', async () => {
  const { resources } = await clinic();
  const invoices = resources.find(({ endpoint }) => endpoint === OPTIONS.Invoice.endpoint)!;
  expect(invoices.rows['GET /api/invoices']!['BILLING']).toEqual([
    ['code: Invoices.findAll'],
    ['tenantId = :tenantId'],
  ]);
  expect(invoices.effects).toMatchObject({ 'GET /api/invoices': 'code', 'GET /api/invoices/:id': 'read' });
});
