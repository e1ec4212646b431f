/** A service of twelve resources, whose roles read and write other fields of the same records. */
import { Controller, Get, Injectable, type Type } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { accessEndpoint, type CrudResource, type CustomOperation, SecurityConfig, standardOperations } from 'declarest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpModule, type McpOptions } from 'declarest-mcp';
import { addAccess } from 'declarest/openapi';
import type { TestUser } from 'declarest/testing';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { type CrudService, startCrud } from '../crud/service.js';
import type { Platform } from '../harness/platforms.js';
import { authorizationOf } from '../harness/tokens.js';
import { documentOf } from '../openapi/described.js';
import { MCP_URL } from './service.js';

@Entity()
class Patient {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  name!: string;

  @Column({ type: 'varchar', nullable: true })
  diagnosis!: string | null;

  @Column({ type: 'varchar', nullable: true, select: false })
  password!: string | null;
}

/** The resources below are of classes with these columns. */
function recordOf(name: string): Type {
  @Entity(name)
  class Row {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 30 })
    title!: string;

    @Column({ type: 'float', nullable: true })
    amount!: number | null;

    @Column({ type: 'varchar', nullable: true })
    secret!: string | null;

    @Column({ type: 'varchar', default: 'x' })
    code!: string;

    @Column({ type: 'varchar', default: 'y' })
    internal!: string;

    @Column({ type: 'integer', nullable: true })
    staffId!: number | null;

    @Column({ type: 'integer', nullable: true })
    patientId!: number | null;

    @ManyToOne(() => Patient, { nullable: true })
    patient!: Patient | null;

    @ManyToMany(() => Patient)
    @JoinTable({ name: `${name}_guests` })
    guests!: Patient[];

    @CreateDateColumn()
    createdAt!: Date;

    @DeleteDateColumn()
    deletedAt!: Date | null;

    @VersionColumn()
    version!: number;
  }
  Object.defineProperty(Row, 'name', { value: name });
  return Row;
}

const NAMES = 'Visit Prescription Ward Room Invoice Insurance Message Document Appointment Shift Order'.split(' ');
const ROWS = NAMES.map(recordOf);

const confirm: CustomOperation = {
  name: 'confirm',
  route: { verb: 'POST', path: ':id/confirm', status: 200 },
  description: {
    summary: 'Confirm it',
    parameters: { by: { type: 'string' } },
    body: { type: 'object', properties: { reason: { type: 'string' } } },
    data: { type: 'string' },
  },
  run: (_context, { id, query, body }) => `${id} ${String(query['by'])} ${String(body['reason'])}`,
};
const latest: CustomOperation = {
  name: 'latest',
  route: { verb: 'GET', path: 'latest' },
  description: { summary: 'Get the latest ones', data: 'records' },
  run: ({ find }) => find({ sort: '-id', limit: 1 }),
};

const resources = (): CrudResource[] => [
  {
    entity: Patient,
    endpoint: '/api/patients',
    enablePagination: 'cursor',
    filterableFields: true,
    sortableFields: ['name', 'diagnosis'],
    fieldPermissions: { diagnosis: { read: ['DOCTOR'], write: ['DOCTOR'] } },
  },
  ...ROWS.map((entity) => ({
    entity,
    endpoint: `/api/${entity.name.toLowerCase()}s`,
    enablePagination: 'both' as const,
    enableSearch: true,
    searchableFields: ['title', 'secret'],
    filterableFields: ['id', 'title', 'amount', 'secret', 'code', 'internal', 'patient.name', 'patient.diagnosis'],
    sortableFields: ['title', 'amount', 'secret'],
    aggregatableFields: ['title', 'amount', 'secret'],
    includableRelations: ['patient'],
    linkableRelations: ['guests'],
    enableCount: true,
    enableExists: true,
    enableRestore: true,
    enableBatch: true,
    deletedRoles: ['ADMIN'],
    owner: { field: 'staffId', except: ['DOCTOR', 'ADMIN'] },
    fieldPermissions: {
      amount: { read: ['BILLING', 'ADMIN'], write: ['BILLING'] },
      secret: { read: ['DOCTOR'], write: ['DOCTOR', 'NURSE'] },
      code: { write: 'once' },
      internal: { read: 'never', write: 'never' },
      patientId: { read: ['DOCTOR', 'NURSE'] },
    } as const,
    ...(entity.name === 'Appointment' && { operations: [...standardOperations, confirm, latest] }),
  })),
];

@Controller('/api/reports')
class ReportsController {
  @Get('desk')
  @ApiOperation({ summary: 'Count the visitors at the desk', operationId: 'desk' })
  desk() {
    return { visitors: 3 };
  }

  @Get('daily')
  @ApiOperation({ operationId: 'dailyTotals' })
  daily() {
    return { visitors: 3 };
  }
}

@Injectable()
class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/mcp', 'GET /api/wards/**');
    this.requireAuth('/api/**');
    this.requireRole(['BILLING', 'ADMIN'], '/api/invoices/**', '/api/insurances/**');
    this.requireRole(['DOCTOR', 'NURSE'], 'POST,PUT,PATCH,DELETE /api/visits/**');
    this.requireRole('ADMIN', 'POST,PUT,PATCH,DELETE /api/wards/**', 'DELETE /api/patients/*');
    this.requireRole('AUDITOR', '/api/messages/**');
    this.requireRole(['DOCTOR', 'NURSE', 'BILLING', 'ADMIN'], 'POST,PUT,PATCH,DELETE /api/rooms/**');
  }
}

export const ROLES = ['USER', 'NURSE', 'BILLING', 'AUDITOR', 'DOCTOR', 'ADMIN'] as const;
/** One caller without a token, and one of each role. */
export const CALLERS: readonly (TestUser | undefined)[] = [
  undefined,
  ...ROLES.map((role, index) => ({ sub: index + 1, roles: [role] })),
];
export const RESOURCES = NAMES.length + 1;

/** What tests read of a JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** What `GET /api/auth/access` says of a resource. */
export interface Permitted extends Readonly<Record<Listed, readonly string[]>> {
  readonly path: string;
}

type Listed = 'operations' | 'read' | 'create' | 'update' | 'filter' | 'sort' | 'include';

export interface Clinic extends CrudService {
  readonly connect: (caller?: TestUser) => Promise<Client>;
}

export async function startClinic(platform: Platform, options: Partial<McpOptions> = {}): Promise<Clinic> {
  const service = await startCrud(platform, {
    entities: [Patient, ...ROWS],
    resources,
    controllers: [ReportsController],
    providers: [Rules],
    imports: [
      authModule({ plugins: [accessEndpoint()] }),
      McpModule.forRoot({ url: MCP_URL, authorizationServers: [], maxCallsPerMinute: 1_000_000, ...options }),
    ],
    isDescribed: false,
    configure: (app) => McpModule.setup(app, () => addAccess(documentOf(app), app)),
  });
  const { dataSource } = service;
  await dataSource.getRepository(Patient).insert({ name: 'Ann', diagnosis: 'flu' });
  for (const entity of ROWS)
    await dataSource
      .getRepository(entity)
      .insert(
        [1, 2, 3, 4, 5, 6, 7, 8].map((staffId) => ({ title: `row ${staffId}`, amount: 1.5, staffId, patientId: 1 })),
      );
  const clients: Client[] = [];
  return {
    ...service,
    async connect(caller) {
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      const headers = caller ? authorizationOf(caller) : {};
      const url = new URL(`${service.url}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      clients.push(client);
      return client;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      await service.close();
    },
  };
}
