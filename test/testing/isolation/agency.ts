/** An application of 12 entities for tenants, written correctly, or with one leak. */
import {
  Body,
  Controller,
  type DynamicModule,
  ForbiddenException,
  Get,
  type INestApplication,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Query,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiBody, ApiProperty, ApiQuery } from '@nestjs/swagger';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import {
  CrudController,
  CrudModule,
  CurrentUser,
  IdempotencyKey,
  type Principal,
  type ScopeContext,
  SecurityConfig,
} from 'declarest';
import { DataSource } from 'typeorm';
import { authModule } from '../../access/ruled-app.js';
import { adapterFor, type Platform } from '../../harness/platforms.js';
import * as entities from './agency-entities.js';

const { Comment, Customer, Invoice, Note, Page, Payment, Project, Setting, Tag, Task, Tenant, Visit } = entities;

export const LEAKS = {
  scope: 'a resource without a scope',
  owner: 'an owner who may only write alone',
  include: 'an included record with all of its fields',
  aggregate: 'a sum of all tenants',
  count: 'a count of all tenants',
  sort: 'a list that is sorted by a hidden field',
  filter: 'a list that is filtered by a hidden field',
  existence: '403 for records of others, and 404 for those that do not exist',
  lookup: 'a check whether anybody has an e-mail address',
  copy: 'a copy of a record of another tenant',
} as const;
export type Leak = keyof typeof LEAKS;

interface Claims {
  tenantId: number;
}

const tenantOf = ({ user }: ScopeContext<Claims>): { tenantId: number } | false =>
  user?.tenantId != null && { tenantId: user.tenantId };
const listed = { enablePagination: true, enableCount: true, enableExists: true } as const;
const ofTenant = { field: 'tenantId', claim: 'tenantId', reads: true } as const;

function resources(leak: Leak | undefined) {
  const controllers = {
    tenants: CrudController({
      entity: Tenant,
      endpoint: '/api/tenants',
      operations: ['findAll', 'findById'],
      scope: ({ user }: ScopeContext<Claims>) => user?.tenantId != null && { id: user.tenantId },
    }),
    customers: CrudController({
      ...listed,
      entity: Customer,
      endpoint: '/api/customers',
      enableSearch: true,
      owner: ofTenant,
      searchableFields: ['name'],
      filterableFields: ['name', 'email', 'creditLimit', 'projects.name'],
      sortableFields: ['name', 'creditLimit'],
      includableRelations: ['projects'],
      fieldPermissions: { creditLimit: { read: ['ADMIN'], write: ['ADMIN'] } },
    }),
    tags: CrudController({ ...listed, entity: Tag, endpoint: '/api/tags', owner: ofTenant, sortableFields: ['label'] }),
    projects: CrudController({
      ...listed,
      entity: Project,
      endpoint: '/api/projects',
      enablePagination: 'both',
      enableBatch: true,
      enableIdempotency: true,
      scope: tenantOf,
      filterableFields: ['name', 'createdAt', 'customer.name', 'tags.label', 'tasks.title'],
      sortableFields: ['name', 'createdAt'],
      includableRelations: ['customer', 'tags', 'tasks'],
      linkableRelations: ['tags'],
    }),
    tasks: CrudController({
      ...listed,
      entity: Task,
      endpoint: '/api/projects/:projectId/tasks',
      scope: ({ user }: ScopeContext<Claims>) => user?.tenantId != null && { project: { tenantId: user.tenantId } },
      filterableFields: ['done', 'project.customer.name'],
      sortableFields: ['title'],
      includableRelations: ['project', 'project.customer'],
    }),
    comments: CrudController({
      ...listed,
      entity: Comment,
      endpoint: '/api/comments',
      owner: 'writerId',
      scope: ({ user }: ScopeContext<Claims>) =>
        user?.tenantId != null && { task: { project: { tenantId: user.tenantId } } },
      filterableFields: ['text', 'task.title'],
      includableRelations: ['task'],
    }),
    invoices: CrudController({
      ...listed,
      entity: Invoice,
      endpoint: '/api/invoices',
      enableExport: true,
      scope: tenantOf,
      filterableFields: ['total', 'margin', 'customer.name', 'customer.creditLimit'],
      sortableFields: ['total', 'margin'],
      aggregatableFields: ['total', 'margin', 'state'],
      includableRelations: ['customer'],
      fieldPermissions: { margin: { read: ['ADMIN'], write: ['ADMIN'] } },
    }),
    payments: CrudController({
      ...listed,
      entity: Payment,
      endpoint: '/api/payments',
      ...(leak !== 'scope' && {
        scope: ({ user }: ScopeContext<Claims>) => user?.tenantId != null && { invoice: { tenantId: user.tenantId } },
      }),
      filterableFields: ['amount'],
      sortableFields: ['amount'],
    }),
    notes: CrudController({
      ...listed,
      entity: Note,
      endpoint: '/api/notes',
      owner: { field: 'ownerId', reads: leak !== 'owner' },
      sortableFields: ['text'],
    }),
    pages: CrudController({ ...listed, entity: Page, endpoint: '/api/pages', owner: ofTenant }),
  };
  return Object.values(controllers);
}

class SettingValue {
  @ApiProperty() value!: string;
}

function handWritten(leak: Leak | undefined): Type[] {
  /** The condition of the tenant, unless it is forgotten. */
  const where = (user: Principal<Claims>, forgetful: Leak): object =>
    leak === forgetful ? {} : { tenantId: user.tenantId };

  @Controller('/api/reports')
  class ReportsController {
    constructor(private readonly dataSource: DataSource) {}

    @Get('revenue')
    async revenue(@CurrentUser() user: Principal<Claims>) {
      const invoices = await this.dataSource.getRepository(Invoice).findBy(where(user, 'aggregate'));
      return { revenue: invoices.reduce((sum, { total }) => sum + total, 0) };
    }

    @Get('visits/count')
    async visits(@CurrentUser() user: Principal<Claims>) {
      return { count: await this.dataSource.getRepository(Visit).countBy(where(user, 'count')) };
    }

    @Get('best-invoices')
    @ApiQuery({ name: 'by', enum: leak === 'sort' ? ['total', 'margin'] : ['total'] })
    async best(@CurrentUser() { tenantId }: Principal<Claims>, @Query('by') by: string) {
      const order = { [leak === 'sort' && by === 'margin' ? 'margin' : 'total']: 'DESC', id: 'ASC' } as const;
      const invoices = await this.dataSource.getRepository(Invoice).find({ where: { tenantId }, order });
      return invoices.map(({ id, total }) => ({ id, total }));
    }

    @Get('customers')
    @ApiQuery({ name: 'minimum', type: 'integer' })
    async customers(@CurrentUser() { tenantId }: Principal<Claims>, @Query('minimum') minimum: string) {
      const customers = await this.dataSource
        .getRepository(Customer)
        .find({ where: { tenantId }, order: { id: 'ASC' } });
      const shown = customers.filter((each) => (leak === 'filter' ? each.creditLimit : each.id) >= Number(minimum));
      return shown.map(({ id, name }) => ({ id, name }));
    }

    @Get('projects/:id')
    async project(@CurrentUser() { tenantId }: Principal<Claims>, @Param('id', ParseIntPipe) id: number) {
      const where = { id, tenantId };
      const found = await this.dataSource.getRepository(Project).findOne({ where, relations: { customer: true } });
      if (!found?.customer) throw new NotFoundException();
      const { creditLimit, ...customer } = found.customer;
      return { name: found.name, customer: leak === 'include' ? { ...customer, creditLimit } : customer };
    }
  }

  @Controller('/api/settings')
  class SettingsController {
    constructor(private readonly dataSource: DataSource) {}

    @Get()
    list(@CurrentUser() { tenantId }: Principal<Claims>) {
      return this.dataSource.getRepository(Setting).find({ where: { tenantId }, order: { id: 'ASC' } });
    }

    @Put(':id')
    @ApiBody({ type: SettingValue })
    async change(
      @CurrentUser() { tenantId }: Principal<Claims>,
      @Param('id', ParseIntPipe) id: number,
      @Body() { value }: SettingValue,
    ) {
      const settings = this.dataSource.getRepository(Setting);
      const setting = await settings.findOneBy({ id });
      if (leak === 'existence' && setting && setting.tenantId !== tenantId) throw new ForbiddenException();
      if (setting?.tenantId !== tenantId) throw new NotFoundException();
      return settings.save({ ...setting, value: String(value) });
    }

    @Get('taken')
    async isTaken(@CurrentUser() user: Principal<Claims>, @Query('email') email: string) {
      return { taken: await this.dataSource.getRepository(Customer).existsBy({ email, ...where(user, 'lookup') }) };
    }

    @Post('pages/:id/copies')
    async copy(@CurrentUser() user: Principal<Claims>, @Param('id', ParseIntPipe) id: number) {
      const pages = this.dataSource.getRepository(Page);
      const found = await pages.findOneBy({ id, ...where(user, 'copy') });
      if (!found) throw new NotFoundException();
      return pages.save({ title: found.title, content: found.content, tenantId: user.tenantId });
    }
  }
  return [ReportsController, SettingsController];
}

@Module({})
class AppModule {}

@Injectable()
class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/**');
  }
}

const inMemory = (): TypeOrmModuleOptions => ({ type: 'better-sqlite3', database: ':memory:', synchronize: true });

interface AgencyParts {
  readonly imports?: readonly DynamicModule[];
  readonly configure?: (app: INestApplication) => void;
}

/** Creates the application with a database and its records, as a test of the application would. */
export const agency =
  (
    platform: Platform,
    leak?: Leak,
    database: () => Promise<TypeOrmModuleOptions> | TypeOrmModuleOptions = inMemory,
    { imports: more = [], configure }: AgencyParts = {},
  ) =>
  async (): Promise<INestApplication> => {
    const imports = [
      TypeOrmModule.forRoot({ ...(await database()), entities: [...entities.ENTITIES, IdempotencyKey] }),
      CrudModule.forFeature(...resources(leak)),
      authModule({ claims: () => ({}) }),
      ...more,
    ];
    const module = { module: AppModule, imports, controllers: handWritten(leak), providers: [Rules] };
    const app = await NestFactory.create<INestApplication>(module, adapterFor(platform), {
      logger: false,
      abortOnError: false,
    });
    configure?.(app);
    // A client may reuse a connection at the moment at which the server closes it as idle.
    app.getHttpServer().keepAliveTimeout = 0;
    await app.init();
    await entities.seed(app.get(DataSource, { strict: false }));
    return app;
  };
