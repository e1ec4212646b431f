/** Single changes of a clinic, and what the check says of each. */
import { All, type CanActivate, Controller, Get, Injectable, type NestInterceptor, UseGuards } from '@nestjs/common';
import {
  CrudController,
  type CustomOperation,
  externalTokens,
  type ListQuery,
  Public,
  Roles,
  type ScopeContext,
  sessions,
  standardOperations,
} from 'declarest';
import { jwks } from 'declarest-logins/jwks';
import { secondFactor } from 'declarest-logins/second-factor';
import { Between, In, LessThan, MoreThan, Not } from 'typeorm';
import type { TableChange } from '../../../../lib/cli/access-output.js';
import {
  Appointment,
  Audit,
  changesOf,
  clinic,
  confirm,
  type Change,
  type Claims,
  DeskGuard,
  OPTIONS,
  Patient,
  receptionOf,
  ReportsController,
  Staff,
  Tag,
  TenantGuard,
  TimesInterceptor,
  waitingList,
} from './clinic.js';

type Of = ScopeContext<Claims>;
/** `same` has no line at all; the others are the kinds of lines, of which the first is the worst. */
type Judgement = TableChange['kind'] | 'same';
const WORST: readonly Judgement[] = ['wider', 'look', 'narrower', 'new', 'removed', 'rules', 'same'];

const DAY = 86_400_000;
const patient = (more: Readonly<Record<string, unknown>>): Change => ({ options: { Patient: more } });
const scoped = (scope: unknown): Change => ({ options: { Patient: { scope } } });
const prescribed = (where: object): Change => ({ options: { Prescription: { scope: () => where } } });
const both = (before: Change, after: Change): [Change, Change] => [before, after];
const at = (scope: unknown): Change => ({ options: { Appointment: { scope } } });
const guarded = (...guards: Change['guards'] & object): Change => ({ guards });
const reports = (...controllers: Change['controllers'] & object): Change => ({ controllers });
const more = (...resources: object[]): Change => ({ resources });
const withPlugins = (plugins: NonNullable<Change['plugins']>): Change => ({ plugins });
const WHERE = ({ user }: Of) => !!user && { tenantId: user.tenantId };

const FOREIGN: Change = { users: { authenticate: () => null } };
const issuer = 'https://login.clinic.example';
const tokens = (principal: object, audience = 'clinic'): Change => ({
  users: { authenticate: jwks({ issuer, audience, principal: principal as never }) },
});
const external = (userOf: () => null): Change =>
  withPlugins((all) => [...all, externalTokens({ authenticate: jwks({ issuer, audience: 'clinic' }), userOf })]);

const OPEN = CrudController({
  entity: Patient,
  endpoint: '/api/everybody',
  operations: ['findAll', 'findById', 'delete'],
});
const factor = (required: string[]): Change =>
  withPlugins((all) => all.map((each) => (each.name === 'secondFactor' ? secondFactor({ required }) : each)));
const session = (options: Parameters<typeof sessions>[0]): Change =>
  withPlugins((all) => all.map((each) => (each.name === 'sessions' ? sessions(options) : each)));
const runConfirm = (run: CustomOperation<Appointment>['run']): Change => ({
  options: { Appointment: { operations: [...standardOperations, { ...confirm, run }] } },
});
type Base = ReturnType<typeof CrudController<object>>;
const listing = (list: (Base: Base) => object): Change => ({ extend: { Visit: list as never } });
const everyVisit = (Base: Base): object => {
  class Visits extends Base {
    @Get()
    override findAll(query: ListQuery) {
      return super.findAll({ ...query, sort: 'id' });
    }
  }
  return Visits;
};
const noVisit = (Base: Base): object => {
  class Visits extends Base {
    @Get()
    override findAll(query: ListQuery) {
      return super.findAll({ ...query, doctorId: '0' } as never);
    }
  }
  return Visits;
};
const forwarded = (Base: Base): object => {
  class Visits extends Base {
    @Get()
    override async findAll(query: ListQuery) {
      return await super.findAll(query);
    }
  }
  return Visits;
};

@Injectable()
class OpenGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

/** A guard with the name of another one, whose code is compiled from a text. */
function guardOf(code: string): new () => CanActivate {
  const type = new Function(`return class TenantGuard { ${code} }`)() as new () => CanActivate;
  Injectable()(type);
  return type;
}
const TENANTS =
  'limit = 3; canActivate(context) { const request = context.getArgs()[0]; return request.tenant > this.limit; }';

@Controller('api/reports')
class OtherQuery extends ReportsController {
  @Roles('DOCTOR')
  @Get('risks')
  override risks() {
    return 'SELECT name FROM clinic_patients';
  }
}
@Controller('api/reports')
class WithoutGuard extends ReportsController {
  @Get('desk')
  override desk() {
    return [];
  }
}
@Controller('api/reports')
class OtherBeds extends ReportsController {
  @All('beds')
  override beds() {
    return 'all';
  }
}
@Controller('api/reports')
class ForAll extends ReportsController {
  @Get('risks')
  override risks() {
    return 'SELECT name FROM clinic_patients WHERE "tenantId" = :tenantId';
  }
}
@Controller('api/notices')
class Notices {
  @Get()
  list() {
    return ['closed on Monday'];
  }
}
@Controller('api/notices')
class PublicNotices {
  @Public()
  @Get()
  list() {
    return ['closed on Monday'];
  }
}
@UseGuards(DeskGuard)
@Controller('api/reports')
class MoreGuards extends ReportsController {}

const wardWithoutGuard: Change = { extend: { Ward: (Base) => class Wards extends Base {} } };
const hooked = (hook: (Base: Base) => object): Change => ({ extend: { Message: hook as never } });

describe('an access that becomes wider', () => {
  it.each<[name: string, change: Change | [Change, Change], word: string, kind?: Judgement]>([
    // Rules and roles.
    ['a rule for a role is removed', { without: ['billing'] }, 'GET /api/invoices'],
    ['a rule for one method is removed', { without: ['visits'] }, 'PATCH /api/visits/:id'],
    ['a rule for a policy is removed', { without: ['duty'] }, 'GET /api/documents'],
    ['a pattern is public', { rules: (rules) => rules.publicEndpoints('GET /api/visits/**') }, 'GET /api/visits'],
    ['a role includes another one', { auth: { roleHierarchy: { DOCTOR: ['NURSE'], NURSE: ['BILLING'] } } }, 'NURSE'],
    ['roles are not enforced', { auth: { enforcedRoles: ['ADMIN'] } }, 'GET /api/invoices'],
    ['a decorator is removed', reports(ForAll), 'GET /api/reports/risks'],
    [
      'the option `access` names more roles',
      patient({ access: { ...OPTIONS.Patient.access, delete: ['DOCTOR'] } }),
      'DELETE /api/patients/:id',
    ],
    ['the option `access` is removed', patient({ access: undefined }), 'GET /api/patients'],
    // Rows.
    ['a scope is removed', scoped(undefined), 'is all'],
    ['a scope loses the tenant', scoped(({ user }: Of) => !!user && { ward: { tenantId: user.tenantId } }), 'is ward'],
    ['a scope loses the join', scoped(WHERE), 'is tenantId = :tenantId'],
    [
      'a scope has an alternative',
      scoped(({ user }: Of) => !!user && [{ tenantId: user.tenantId }, { risk: 0 }]),
      'risk = 0',
    ],
    [
      'a scope is `true` for a role',
      scoped(({ user }: Of) => user?.roles.includes('NURSE') || WHERE({ user } as Of)),
      'is all',
    ],
    [
      'a number may be larger',
      both(prescribed({ dose: LessThan(5) }), prescribed({ dose: LessThan(6) })),
      'is dose < 6',
    ],
    [
      'a list has more values',
      both(prescribed({ status: In(['a']) }), prescribed({ status: In(['a', 'b']) })),
      'status = "b"',
    ],
    [
      'a list has fewer exceptions',
      both(prescribed({ status: Not(In(['a', 'b'])) }), prescribed({ status: Not(In(['a'])) })),
      'status != "a"',
    ],
    ['a range is wider', both(prescribed({ dose: Between(2, 4) }), prescribed({ dose: Between(2, 5) })), 'dose <= 5'],
    [
      'an operator is another one',
      both(prescribed({ dose: LessThan(5) }), prescribed({ dose: MoreThan(5) })),
      'dose > 5',
    ],
    [
      'a date is earlier',
      both(
        prescribed({ until: MoreThan(new Date('2026-03-01')) }),
        prescribed({ until: MoreThan(new Date('2026-02-01')) }),
      ),
      '2026-02-01',
    ],
    [
      'a condition on the time is removed',
      prescribed([{ dose: LessThan(5), status: In(['open', 'new']) }]),
      'GET /api/patients/:patientId/prescriptions',
    ],
    [
      'a time is further away',
      at(({ user }: Of) => !!user && { tenantId: user.tenantId, at: MoreThan(new Date(Date.now() - 30 * DAY)) }),
      'at > :now - 30 d',
    ],
    [
      'the code of a scope changes',
      both(
        { options: { Document: { scope: ({ user }: Of) => (user?.id === 7 ? false : Number(user?.id) < 5) } } },
        { options: { Document: { scope: ({ user }: Of) => (user?.id === 7 ? false : Number(user?.id) < 6) } } },
      ),
      'code: scope of Document#',
    ],
    ['an owner is removed', { options: { Visit: { owner: undefined } } }, 'was own (doctorId), is all'],
    [
      'an owner is seen by others',
      { options: { Visit: { owner: { ...OPTIONS.Visit.owner, reads: false } } } },
      'GET /api/visits',
    ],
    [
      'more roles are no owners',
      { options: { Visit: { owner: { ...OPTIONS.Visit.owner, except: ['ADMIN', 'NURSE'] } } } },
      'NURSE',
    ],
    ['an owner of a claim is removed', { options: { Invoice: { owner: undefined } } }, 'is all'],
    ['deleted records are seen by more', patient({ deletedRoles: ['ADMIN', 'NURSE'] }), 'deleted records of Patient'],
    [
      'deleted records can be restored',
      patient({ enableRestore: true, access: { ...OPTIONS.Patient.access, restore: ['NURSE'] } }),
      'POST /api/patients/:id/restore',
    ],
    [
      'a scope is removed, for users of another origin',
      both(FOREIGN, { ...FOREIGN, options: { Patient: { scope: undefined } } }),
      'is all',
    ],
    // Fields and relations.
    [
      'a field is read by more',
      patient({ fieldPermissions: { phone: { write: 'once' } } }),
      'Patient.risk was not readable',
    ],
    [
      'a field is written by more',
      { options: { Visit: { fieldPermissions: { notes: { read: ['DOCTOR'] } } } } },
      'Visit.notes was not writable',
    ],
    [
      'a field is written again',
      patient({ fieldPermissions: { risk: OPTIONS.Patient.fieldPermissions.risk } }),
      'Patient.phone was not writable, is writable',
    ],
    ['a field is read at all', { options: { Invoice: { fieldPermissions: {} } } }, 'Invoice.internal was not readable'],
    [
      'a relation is included',
      { options: { Invoice: { includableRelations: ['patient'] } } },
      'Patient through Invoice.patient',
    ],
    [
      'a relation is filtered by',
      { options: { Visit: { filterableFields: ['patient.name'] } } },
      'Patient through Visit.patient',
    ],
    ['a relation is written', patient({ linkableRelations: ['tags'] }), 'the relation Patient.tags'],
    ['the records of a relation lose their scope', { options: { Ward: { scope: undefined } } }, 'GET /api/wards'],
    // Operations and resources.
    [
      'an operation changes what only could be read',
      { options: { Visit: { operations: ['findAll', 'findById', 'create', 'patch', 'delete'] } } },
      'DELETE /api/visits/:id is new: reaches own (doctorId) of Visit',
    ],
    [
      'an operation lists what only could be counted',
      { options: { Message: { operations: ['count', 'create', 'findAll'] } } },
      'GET /api/messages is new: reaches all of Message, with the fields id, senderId, text',
    ],
    [
      'an operation of the application is new',
      {
        options: {
          Visit: {
            operations: [
              ...OPTIONS.Visit.operations,
              { ...confirm, name: 'close', route: { verb: 'POST', path: ':id/close' } },
            ],
          },
        },
      },
      'POST /api/visits/:id/close is new',
    ],
    [
      'an endpoint leaves its rule',
      { options: { Invoice: { endpoint: '/api/bills' } } },
      'GET /api/bills is new: reaches',
    ],
    [
      'an endpoint leaves its rule, without an owner',
      { options: { Invoice: { endpoint: '/api/bills', owner: undefined } } },
      'reaches all of Invoice',
    ],
    [
      'a resource has rows that nobody reached',
      more(CrudController({ entity: Audit, endpoint: '/api/audit', operations: ['findAll'] })),
      'GET /api/audit is new: reaches all of Audit',
    ],
    [
      'a resource has the users',
      more(CrudController({ entity: Staff, endpoint: '/api/staff', operations: ['findAll'] })),
      'reaches all of Staff',
    ],
    [
      'a resource has the same records without a scope',
      more(OPEN),
      'reaches all of Patient, with the fields id, tenantId, name, phone, risk',
    ],
    [
      'a resource has rows of before with another field',
      more(
        CrudController({
          ...OPTIONS.Visit,
          endpoint: '/api/notes',
          fieldPermissions: {},
          operations: ['findAll'],
        } as never),
      ),
      'with the fields notes',
    ],
    [
      'a resource has a relation to other records',
      more(CrudController({ ...OPTIONS.Visit, endpoint: '/api/notes', includableRelations: ['patient'] } as never)),
      'Patient through Visit.patient',
    ],
    [
      'a resource is public',
      more(
        CrudController({
          entity: Tag,
          endpoint: '/api/tags',
          operations: ['findAll'],
          access: { read: 'public' },
        }),
      ),
      'everybody: GET /api/tags is new',
    ],
    [
      'an override may forget the owner',
      listing(everyVisit),
      'was own (doctorId), is code: Visits.findAll, or own (doctorId)',
    ],
    ['a route of a controller is public', reports(ReportsController, PublicNotices), 'GET /api/notices'],
  ])('is wider where %s', async (_name, change, word) => {
    const changes = await changesFor(change);
    expect(worstOf(changes)).toBe('wider');
    expect(sentencesOf(changes, 'wider')).toContain(word);
  });
});

describe('code that decides', () => {
  it.each<[name: string, change: Change | [Change, Change], word: string]>([
    ['a policy changes', { policy: () => true }, 'policy onDuty'],
    [
      'a policy changes, for users of another origin',
      both(FOREIGN, { ...FOREIGN, policy: () => true }),
      'policy onDuty',
    ],
    [
      'a hook changes',
      hooked(
        (Base) =>
          class Messages extends Base {
            override beforeCreate() {
              return {};
            }
          },
      ),
      'hook beforeCreate of /api/messages',
    ],
    ['a hook is removed', hooked((Base) => class Messages extends Base {}), 'hook beforeCreate of /api/messages'],
    [
      'a hook is new',
      {
        extend: {
          Ward: (Base) => {
            @UseGuards(DeskGuard)
            class Wards extends Base {
              override beforeDelete() {}
            }
            return Wards;
          },
        },
      },
      'hook beforeDelete of /api/wards',
    ],
    ['a guard of all routes is removed', guarded(), 'every route: no longer guard TenantGuard'],
    ['a guard of all routes is another one', guarded(OpenGuard), 'now guard OpenGuard, no longer guard TenantGuard'],
    ['the code of a guard changes', guarded(guardOf('canActivate() { return true; }')), 'guard TenantGuard'],
    [
      'a field of a guard changes',
      both(guarded(guardOf(TENANTS)), guarded(guardOf(TENANTS.replace('3', '2')))),
      'guard TenantGuard',
    ],
    ['a guard of a handler is removed', reports(WithoutGuard), 'GET /api/reports/desk: no longer guard DeskGuard'],
    ['a guard of a generated controller is removed', wardWithoutGuard, 'GET /api/wards: no longer guard DeskGuard'],
    ['an interceptor is new', { interceptors: [TimesInterceptor] }, 'every route: now interceptor TimesInterceptor'],
    [
      'an interceptor changes',
      both(
        { interceptors: [TimesInterceptor] },
        {
          interceptors: [
            class TimesInterceptor implements NestInterceptor {
              intercept() {
                return [] as never;
              }
            },
          ],
        },
      ),
      'interceptor TimesInterceptor',
    ],
    ['a query of a handler changes', reports(OtherQuery), 'GET /api/reports/risks'],
    ['a handler of all methods changes', reports(OtherBeds), 'ALL /api/reports/beds'],
    ['a handler is new', reports(ReportsController, Notices), 'GET /api/notices: code of the application is new'],
    [
      'an operation of the application changes',
      runConfirm(({ find }) => find({})),
      'POST /api/appointments/:id/confirm',
    ],
    ['an override changes', both(listing(noVisit), listing(everyVisit)), 'GET /api/visits'],
    [
      'an override that may refuse is removed',
      both(listing(noVisit), {}),
      'GET /api/visits: code of the application is removed',
    ],
    ['claims change', { auth: { claims: () => ({ tenantId: 1 }) } }, 'AuthModule claims'],
    ['claims are removed', { auth: { claims: undefined as never } }, 'AuthModule claims'],
    [
      'an audience is removed',
      { auth: { audience: undefined as never } },
      'AuthModule audience: no longer requires clinic',
    ],
    ['attempts are not limited', { auth: { throttle: false } }, 'AuthModule tries'],
    ['a factor is not required', factor([]), 'secondFactor factor: no longer requires a factor of ADMIN'],
    [
      'there is no second factor',
      withPlugins((all) => all.filter(({ name }) => name !== 'secondFactor')),
      'no longer requires a factor of users who have one',
    ],
    [
      'access tokens live longer',
      session({ revocation: 'immediate', accessTokenMinutes: 1_440 }),
      'sessions accessTokenSeconds: now 86400, no longer 900',
    ],
    ['sessions live longer', session({ revocation: 'immediate', refreshTokenDays: 365 }), 'sessions refreshTokenMs'],
    ['tokens outlive their sessions', session({}), 'sessions tokensOutliveSessions'],
    [
      'a plugin of the application changes',
      withPlugins((all) =>
        all.map((each) => (each === waitingList ? { ...waitingList, beforeLogin: () => undefined } : each)),
      ),
      'plugin waitingList',
    ],
    [
      'a plugin of the application is removed',
      withPlugins((all) => all.filter((each) => each !== waitingList)),
      'plugin waitingList',
    ],
    ['tokens of another issuer are accepted', external(() => null), 'externalTokens'],
    [
      'their users are other ones',
      both(
        external(() => null),
        external(() => (globalThis as never)['user'] ?? null),
      ),
      'externalTokens userOf',
    ],
    [
      'roles come from another claim',
      both(tokens({ roles: 'realm_access.roles' }), tokens({ roles: 'user_metadata.roles' })),
      'AccessModule principal',
    ],
    ['tokens for another audience are accepted', both(tokens({}), tokens({}, 'account')), 'AccessModule audience'],
    [
      'the source of users changes',
      both({ users: { authenticate: () => null } }, { users: { authenticate: () => ({ id: 1, roles: ['ADMIN'] }) } }),
      'AccessModule authenticate',
    ],
    ['a view loses its condition', { view: receptionOf('SELECT id, name FROM clinic_patients') }, 'view Reception'],
    [
      'a view reads another table',
      { view: receptionOf('SELECT id, text AS name FROM clinic_messages') },
      'view Reception',
    ],
  ])('is to be looked at where %s', async (_name, change, word) => {
    const changes = await changesFor(change);
    expect(worstOf(changes)).toBe('look');
    expect(sentencesOf(changes, 'look')).toContain(word);
  });
});

describe('an access that does not become wider', () => {
  it.each<[name: string, change: Change | [Change, Change], kind: Judgement]>([
    ['nothing changes', {}, 'same'],
    ['nothing changes, for users of another origin', both(FOREIGN, { ...FOREIGN }), 'same'],
    [
      'guards of all routes have another order',
      both(guarded(TenantGuard, OpenGuard), guarded(OpenGuard, TenantGuard)),
      'same',
    ],
    [
      'the order of roles changes',
      patient({ access: { ...OPTIONS.Patient.access, read: ['DOCTOR', 'NURSE'] } }),
      'same',
    ],
    ['pages and sorts are new', { options: { Ward: { enablePagination: true, sortableFields: ['name'] } } }, 'same'],
    ['an override that only calls `super` is new', listing(forwarded), 'same'],
    ['an override that only calls `super` is removed', both(listing(forwarded), {}), 'same'],
    ['a controller has another name', { extend: { Visit: (Base) => class Renamed extends Base {} } }, 'same'],
    [
      'a guard has another comment',
      both(guarded(guardOf(TENANTS)), guarded(guardOf(TENANTS.replace(' const', ' // Only tenants.\n const')))),
      'same',
    ],
    [
      'a local of a guard has another name',
      both(guarded(guardOf(TENANTS)), guarded(guardOf(TENANTS.replaceAll('request', 'found')))),
      'same',
    ],
    [
      'a guard is compiled otherwise',
      both(
        guarded(guardOf(TENANTS)),
        guarded(guardOf(TENANTS.replace('limit = 3;', 'constructor() { this.limit = 3; }'))),
      ),
      'same',
    ],
    [
      'a scope is written otherwise',
      scoped((of: Of) => (of.user ? { ward: { tenantId: of.user.tenantId }, tenantId: of.user.tenantId } : false)),
      'same',
    ],
    ['a number may be smaller', both(prescribed({ dose: LessThan(5) }), prescribed({ dose: LessThan(3) })), 'narrower'],
    ['a list has fewer values', both(prescribed({ status: In(['a', 'b']) }), prescribed({ status: 'a' })), 'narrower'],
    [
      'a list has more exceptions',
      both(prescribed({ status: Not(In(['a'])) }), prescribed({ status: Not(In(['a', 'b'])) })),
      'narrower',
    ],
    ['a range is narrower', both(prescribed({ dose: Between(2, 5) }), prescribed({ dose: Between(3, 5) })), 'narrower'],
    ['a number is one of a range', both(prescribed({ dose: Between(2, 5) }), prescribed({ dose: 4 })), 'narrower'],
    [
      'a time is nearer',
      at(({ user }: Of) => !!user && { tenantId: user.tenantId, at: MoreThan(new Date(Date.now() - DAY)) }),
      'narrower',
    ],
    [
      'a scope has one more condition',
      scoped(
        ({ user }: Of) => !!user && { tenantId: user.tenantId, ward: { tenantId: user.tenantId }, risk: LessThan(3) },
      ),
      'narrower',
    ],
    ['a rule is narrower', { rules: (rules) => rules.requireRole('DOCTOR', '/api/wards/**') }, 'narrower'],
    [
      'a field is read by fewer',
      { options: { Ward: { fieldPermissions: { name: { read: ['DOCTOR'] } } } } },
      'narrower',
    ],
    ['a guard is new', guarded(TenantGuard, OpenGuard), 'narrower'],
    ['a guard of a controller is new', reports(MoreGuards), 'narrower'],
    ['access tokens live shorter', session({ revocation: 'immediate', accessTokenMinutes: 5 }), 'narrower'],
    ['another factor is required', factor(['ADMIN', 'DOCTOR']), 'narrower'],
    ['an audience is required', both({ auth: { audience: undefined as never } }, {}), 'narrower'],
    [
      'what is listed is counted',
      { options: { Visit: { enableCount: true, operations: [...OPTIONS.Visit.operations, 'count'] } } },
      'new',
    ],
    [
      'a resource has fewer of the same records',
      more(
        CrudController({
          entity: Appointment,
          endpoint: '/api/soon',
          operations: ['findAll'],
          scope: ({ user }: Of) => !!user && { tenantId: user.tenantId, at: MoreThan(new Date()) },
        }),
      ),
      'new',
    ],
    [
      'a relation leads to records that are listed',
      { options: { Appointment: { includableRelations: [] }, Patient: { includableRelations: ['ward'] } } },
      'same',
    ],
    [
      'a handler is new that nobody may call',
      { controllers: [ReportsController, Notices], rules: (rules) => rules.denyAll('/api/notices/**') },
      'new',
    ],
    ['a resource is removed', { options: { Message: null } }, 'removed'],
    ['operations are removed', { options: { Ward: { operations: ['findAll'] } } }, 'removed'],
    ['an endpoint has another name', { options: { Ward: { endpoint: '/api/units' } } }, 'new'],
    [
      'tokens of another issuer are not accepted',
      both(
        external(() => null),
        {},
      ),
      'same',
    ],
    ['handlers are removed', { controllers: [] }, 'removed'],
    ['registration is closed', { auth: { registration: false } }, 'removed'],
  ])('is not where %s', async (_name, change, kind) => {
    const changes = await changesFor(change);
    expect([worstOf(changes), changes.filter((each) => each.kind === 'wider' || each.kind === 'look')]).toEqual([
      kind,
      [],
    ]);
  });

  it('is not where what is listed is counted, although other routes are denied', async () => {
    const denied = { defaultAccess: 'denied' } as const;
    const counted = { Ward: { enableCount: true, access: { read: 'authenticated' } } } as const;
    const [before, after] = [
      await clinic({ auth: denied, options: { Ward: { access: { read: 'authenticated' } } } }),
      await clinic({ auth: denied, options: counted }),
    ];
    expect(changesOf(before, after, 'nobody').map(({ kind }) => kind)).toEqual(['new']);
  });
});

let known: Promise<Awaited<ReturnType<typeof clinic>>> | undefined;

async function changesFor(change: Change | [Change, Change]): Promise<TableChange[]> {
  const [before, after] = Array.isArray(change) ? change : [undefined, change];
  const isBase = before === undefined || Object.keys(before).length === 0;
  return changesOf(await (isBase ? (known ??= clinic()) : clinic(before)), await clinic(after));
}

const worstOf = (changes: readonly TableChange[]): Judgement =>
  WORST.find((kind) => changes.some((each) => each.kind === kind)) ?? 'same';

const sentencesOf = (changes: readonly TableChange[], kind: Judgement): string =>
  changes
    .filter((each) => each.kind === kind)
    .map(({ sentence }) => sentence)
    .join('\n');
