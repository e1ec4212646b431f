/** A clinic with two tenants, which a test declares with one change, and its access table. */
import {
  All,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  accessEndpoint,
  AccessModule,
  type AccessModuleOptions,
  AuthModule,
  type AuthOptions,
  AuthUser,
  CrudController,
  CrudModule,
  type CrudOptions,
  type CustomOperation,
  type GeneratedControllerClass,
  type ListQuery,
  Public,
  Roles,
  type ScopeContext,
  SecurityConfig,
  sessions,
  standardOperations,
  useScope,
} from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { secondFactor } from 'declarest-logins/second-factor';
import type { AuthPlugin } from 'declarest/plugin';
import {
  Column,
  DeleteDateColumn,
  Entity,
  In,
  LessThan,
  ManyToMany,
  JoinTable,
  ManyToOne,
  MoreThan,
  Not,
  PrimaryGeneratedColumn,
  type Relation,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import { tableChanges, type TableChange } from '../../../../lib/cli/access-output.js';
import { readSnapshot, writeSnapshot, type AccessTable } from '../../../../lib/cli/access-snapshot.js';
import type { LoadedModule } from '../../../../lib/cli/load-module.js';
import { compileApplication } from '../../../../lib/cli/compile-application.js';
import type { Platform } from '../../../harness/platforms.js';
import { TEST_SECRET } from '../../../harness/tokens.js';

export { readSnapshot, writeSnapshot };

@Entity('clinic_staff')
export class Staff extends AuthUser {
  @Column({ default: 1 })
  tenantId!: number;
}

abstract class Owned {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  tenantId!: number;
}

@Entity('clinic_wards')
export class Ward extends Owned {
  @Column()
  name!: string;
}

@Entity('clinic_tags')
export class Tag {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  label!: string;
}

@Entity('clinic_patients')
export class Patient extends Owned {
  @Column()
  name!: string;

  @Column({ transformer: { to: (text: string) => text, from: (text: string) => text } })
  phone!: string;

  @Column()
  risk!: number;

  @Column()
  doctorId!: number;

  @ManyToOne(() => Ward)
  ward!: Relation<Ward>;

  @ManyToMany(() => Tag)
  @JoinTable({ name: 'clinic_patient_tags' })
  tags!: Relation<Tag>[];

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

@Entity('clinic_visits')
export class Visit extends Owned {
  @Column()
  notes!: string;

  @Column()
  doctorId!: number;

  @ManyToOne(() => Patient)
  patient!: Relation<Patient>;
}

@Entity('clinic_prescriptions')
export class Prescription {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  patientId!: number;

  @ManyToOne(() => Patient)
  patient!: Relation<Patient>;

  @Column()
  dose!: number;

  @Column()
  status!: string;

  @Column()
  until!: Date;
}

@Entity('clinic_invoices')
export class Invoice extends Owned {
  @Column()
  amount!: number;

  @Column()
  internal!: string;

  @ManyToOne(() => Patient)
  patient!: Relation<Patient>;
}

@Entity('clinic_messages')
export class Message {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  senderId!: number;

  @Column()
  text!: string;
}

@Entity('clinic_documents')
export class Document extends Owned {
  @Column()
  title!: string;
}

@Entity('clinic_audit')
export class Audit extends Owned {
  @Column()
  what!: string;
}

@Entity('clinic_appointments')
export class Appointment extends Owned {
  @Column()
  at!: Date;

  @Column()
  doctorId!: number;
}

/** A class for each expression: TypeORM keeps one for a class. */
export function receptionOf(expression: string): Type<object> {
  @ViewEntity({ name: 'clinic_reception', expression })
  class Reception {
    @ViewColumn()
    id!: number;

    @ViewColumn()
    name!: string;
  }
  return Reception;
}
export const RECEPTION = receptionOf('SELECT id, name FROM clinic_patients WHERE risk < 3');

export interface Claims {
  readonly tenantId: number;
}
type Of = ScopeContext<Claims>;

@Injectable()
export class DocumentScope {
  scope({ user, operation }: Of) {
    // Only doctors search.
    return user?.email.endsWith('@clinic.example') && operation !== 'search' ? { tenantId: user.tenantId } : false;
  }
}

export const confirm: CustomOperation<Appointment> = {
  name: 'confirm',
  route: { verb: 'POST', path: ':id/confirm' },
  description: { summary: 'Confirm an appointment', data: 'record' },
  run: ({ resource }, { id }) => resource.findById(id),
};

export const OPTIONS = {
  Ward: { entity: Ward, endpoint: '/api/wards', scope: ({ user }: Of) => !!user && { tenantId: user.tenantId } },
  Patient: {
    entity: Patient,
    endpoint: '/api/patients',
    includableRelations: ['ward'],
    filterableFields: ['name', 'ward.name'],
    scope: ({ user }: Of) => !!user && { tenantId: user.tenantId, ward: { tenantId: user.tenantId } },
    fieldPermissions: { risk: { read: ['DOCTOR'], write: ['DOCTOR'] }, phone: { write: 'once' } },
    deletedRoles: ['ADMIN'],
    access: { read: ['NURSE', 'DOCTOR'], create: ['DOCTOR'], update: ['DOCTOR'], delete: ['ADMIN'] },
  },
  Visit: {
    entity: Visit,
    endpoint: '/api/visits',
    owner: { field: 'doctorId', reads: true, except: ['ADMIN'] },
    fieldPermissions: { notes: { read: ['DOCTOR'], write: ['DOCTOR'] } },
    operations: ['findAll', 'findById', 'create', 'patch'],
  },
  Prescription: {
    entity: Prescription,
    endpoint: '/api/patients/:patientId/prescriptions',
    scope: () => [
      { dose: LessThan(5), status: In(['open', 'new']), until: MoreThan(new Date()) },
      { dose: LessThan(3), status: Not(In(['void', 'lost'])) },
    ],
  },
  Invoice: {
    entity: Invoice,
    endpoint: '/api/invoices',
    owner: { field: 'tenantId', claim: 'tenantId', reads: true },
    fieldPermissions: { internal: { read: 'never', write: ['BILLING'] } },
  },
  Message: {
    entity: Message,
    endpoint: '/api/messages',
    owner: 'senderId',
    operations: ['count', 'create'],
    enableCount: true,
  },
  Document: { entity: Document, endpoint: '/api/documents', scope: useScope(DocumentScope) },
  Appointment: {
    entity: Appointment,
    endpoint: '/api/appointments',
    operations: [...standardOperations, confirm],
    scope: ({ user }: Of) => !!user && { tenantId: user.tenantId, at: MoreThan(new Date(Date.now() - 7 * 86_400_000)) },
  },
  Reception: { entity: RECEPTION, endpoint: '/api/reception', operations: ['findAll'], access: { read: ['NURSE'] } },
} satisfies Readonly<Record<string, CrudOptions>>;

export type Name = keyof typeof OPTIONS;

@Injectable()
export class TenantGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    return request.headers['x-tenant'] !== 'none';
  }
}

@Injectable()
export class DeskGuard implements CanActivate {
  canActivate(): boolean {
    return new Date().getHours() > 6;
  }
}

@Injectable()
export class TimesInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle();
  }
}

@Controller('api/reports')
export class ReportsController {
  @Roles('DOCTOR')
  @Get('risks')
  risks() {
    return 'SELECT name FROM clinic_patients WHERE "tenantId" = :tenantId';
  }

  @UseGuards(DeskGuard)
  @Get('desk')
  desk() {
    return [];
  }

  @Public()
  @Get('hours')
  hours() {
    return ['08:00', '17:00'];
  }

  @All('beds')
  beds() {
    return 'tenant';
  }

  @Post('made')
  made() {
    return {};
  }
}

export const waitingList: AuthPlugin = {
  name: 'waitingList',
  beforeLogin(_services, user) {
    if (user.email === null) throw new ForbiddenException('Your account is not ready');
    return undefined;
  },
};

export const isOnDuty = (user: object): boolean => 'tenantId' in user;

export interface Rules {
  readonly publicEndpoints: (pattern: string) => void;
  readonly requireRole: (role: string, pattern: string) => void;
  readonly requireAuth: (pattern: string) => void;
  readonly denyAll: (pattern: string) => void;
  readonly requirePolicy: (name: string, pattern: string) => void;
}

type Extend = (Base: GeneratedControllerClass<object>) => object;

export interface Change {
  readonly options?: { readonly [N in Name]?: Readonly<Record<string, unknown>> | null };
  /** Classes that extend generated controllers. */
  readonly extend?: { readonly [N in Name]?: Extend };
  readonly resources?: readonly object[];
  readonly rules?: (rules: Rules) => void;
  /** Rules that are left out. */
  readonly without?: readonly string[];
  readonly policy?: (user: object) => boolean;
  readonly auth?: Partial<AuthOptions>;
  readonly plugins?: (plugins: AuthPlugin[]) => AuthPlugin[];
  /** In place of AuthModule. */
  readonly users?: AccessModuleOptions;
  readonly controllers?: readonly Type[];
  readonly guards?: readonly Type[];
  readonly interceptors?: readonly Type[];
  readonly view?: Type<object>;
}

/** The controller of messages has a hook, and that of visits an override that only others see through. */
const EXTENDED: { readonly [N in Name]?: Extend } = {
  Message: (Base) =>
    class Messages extends Base {
      override beforeCreate(values: { text?: string }) {
        if (values.text === '') throw new ForbiddenException();
        return {};
      }
    },
  Ward: (Base) => {
    @UseGuards(DeskGuard)
    class Wards extends Base {}
    return Wards;
  },
  Invoice: (Base) => {
    class Invoices extends Base {
      @Get()
      override findAll(query: ListQuery) {
        return super.findAll({ ...query, sort: '-id' });
      }
    }
    return Invoices;
  },
};

const RULES: Readonly<Record<string, (rules: Rules) => void>> = {
  auth: (rules) => rules.requireAuth('/api/**'),
  billing: (rules) => rules.requireRole('BILLING', '/api/invoices/**'),
  visits: (rules) => rules.requireRole('DOCTOR', 'PATCH /api/visits/**'),
  duty: (rules) => rules.requirePolicy('onDuty', '/api/documents/**'),
};

export const clinic = async (change: Change = {}, platform: Platform = 'express'): Promise<AccessTable> => {
  const { compiled, reach } = await compileApplication(clinicModule(change), platform);
  return { ...reach, routes: compiled.rows };
};

export function clinicModule(change: Change = {}): LoadedModule {
  const { options = {}, extend = {}, resources = [], plugins = (all) => all, policy = isOnDuty, without = [] } = change;
  const view = change.view ?? RECEPTION;
  const crud = (Object.keys(OPTIONS) as Name[]).flatMap((name) => {
    if (options[name] === null) return [];
    const entity = name === 'Reception' ? view : OPTIONS[name].entity;
    const generated = CrudController({ ...OPTIONS[name], entity, ...options[name] } as CrudOptions);
    return (extend[name] ?? EXTENDED[name] ?? ((Base) => Base))(generated);
  });
  @Injectable()
  class Security extends SecurityConfig {
    override configure(): void {
      const rules: Rules = {
        publicEndpoints: (pattern) => this.publicEndpoints(pattern),
        requireRole: (role, pattern) => this.requireRole(role, pattern),
        requireAuth: (pattern) => this.requireAuth(pattern),
        denyAll: (pattern) => this.denyAll(pattern),
        requirePolicy: (name, pattern) => this.requirePolicy(name, policy as never, pattern),
      };
      for (const [name, declare] of Object.entries(RULES)) if (!without.includes(name)) declare(rules);
      change.rules?.(rules);
    }
  }
  const own = [
    waitingList,
    sessions({ revocation: 'immediate' }),
    secondFactor({ required: ['ADMIN'] }),
    apiKeys(),
    accessEndpoint(),
  ];
  const auth = AuthModule.forRoot({
    userClass: Staff,
    jwtSecret: TEST_SECRET,
    audience: 'clinic',
    roleHierarchy: { DOCTOR: ['NURSE'] },
    claims: (user: Staff) => ({ tenantId: user.tenantId }),
    ...change.auth,
    plugins: plugins(own),
  } as AuthOptions);
  @Module({})
  class Clinic {}
  const entities = [Ward, Tag, Patient, Visit, Prescription, Invoice, Message, Document, Audit, Appointment, view];
  const module = {
    module: Clinic,
    imports: [
      TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, entities }),
      change.users ? AccessModule.forRoot(change.users) : auth,
      CrudModule.forFeature(...([...crud, ...resources] as never[])),
    ],
    controllers: [...(change.controllers ?? [ReportsController])],
    providers: [
      Security,
      DocumentScope,
      ...(change.guards ?? [TenantGuard]).map((useClass) => ({ provide: APP_GUARD, useClass })),
      ...(change.interceptors ?? []).map((useClass) => ({ provide: APP_INTERCEPTOR, useClass })),
    ],
  };
  return { module, configure: undefined };
}

export const changesOf = (before: AccessTable, after: AccessTable, access = 'any token'): TableChange[] =>
  tableChanges(before, after, { access, requirements: [] });
