/** The service that the tests of react-admin talk to: one resource for each of the cases, on a real database. */
import {
  Controller,
  type DynamicModule,
  Get,
  Injectable,
  type ModuleMetadata,
  Param,
  Patch,
  Post,
  Query,
} from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  type AuthOptions,
  AuthUser,
  CrudController,
  CrudModule,
  OverrideNote,
  SecurityConfig,
  UserAccounts,
} from 'declarest';
import {
  authProvider,
  type AuthProviderOptions,
  dataProvider,
  type DeclarestDataProvider,
  type TokenStorage,
} from 'ra-data-declarest';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { type Platform, type RunningApp, startApp } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';

@Entity()
export class Member extends AuthUser {}

@Entity()
export class Shelf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40, unique: true }) name!: string;
}

@Entity()
export class Book {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
  @Column('double precision', { default: 10 }) price!: number;
  @Column({ type: 'varchar', length: 80, nullable: true }) subtitle!: string | null;
  @Column({ type: 'simple-json', nullable: true }) layout!: object | null;
  @ManyToOne(() => Shelf, { nullable: true }) shelf!: Shelf | null;
  @OneToMany(() => Note, ({ book }) => book) notes!: Note[];
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Entity()
export class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) text!: string;
  @ManyToOne(() => Book) book!: Book;
}

/** Has neither batches, nor a search, nor `id` in its filters and sorts. */
@Entity()
export class Label {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

/** Has the operations of every resource. */
@Entity()
export class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

/** Requires `If-Match`. */
@Entity()
export class Contract {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @VersionColumn() version!: number;
}

/** Is paged by cursor only. */
@Entity()
export class Entry {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

/** Is not paged. */
@Entity()
export class Country {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

class BooksController extends CrudController({
  entity: Book,
  endpoint: '/api/books',
  enablePagination: true,
  enableSearch: true,
  enableBatch: true,
  enableExport: true,
  enableRestore: true,
  enableCount: true,
  deletedRoles: ['USER', 'ADMIN'],
  searchableFields: ['title'],
  filterableFields: ['id', 'title', 'price', 'subtitle', 'shelfId', 'shelf.name'],
  sortableFields: ['id', 'title', 'price'],
  includableRelations: ['shelf', 'notes'],
}) {}

/** Reads the record before it writes, so that the path of a batch is refused as an invalid id. */
class LabelsController extends CrudController({
  entity: Label,
  endpoint: '/api/labels',
  enablePagination: true,
  filterableFields: ['name'],
  sortableFields: ['name'],
}) {
  @Patch(':id')
  @OverrideNote('Reads the record first')
  override async patch(id: string, changes: Record<string, unknown>) {
    await super.findById(id);
    return super.patch(id, changes);
  }
}

@Controller('/api/own')
class OwnController {
  @Get('list') list() {
    return [{ id: 1 }];
  }

  @Get('page/:name') page(@Param('name') name: string, @Query() query: object) {
    return { name, query };
  }

  @Post('echo') echo() {
    return { done: true };
  }
}

@Injectable()
class LibrarySecurity extends SecurityConfig {
  override configure(): void {
    this.publicEndpoints('/api/**');
    this.requireAuth('/api/shelves/**');
    this.requireRole('ADMIN', 'GET /api/own/page/*');
  }
}

export const PASSWORD = 'correct horse battery';

export interface Service extends RunningApp {
  /** Base of the resources. */
  readonly api: string;
  readonly accounts: UserAccounts;
  readonly dataSource: DataSource;
}

/** Starts an application with users and resources on a database of its own. */
export async function startService(
  platform: Platform,
  auth: Omit<AuthOptions, 'jwtSecret'>,
  resources: DynamicModule,
  module: ModuleMetadata = {},
): Promise<Service> {
  const database = await createDatabase();
  const imports = [
    TypeOrmModule.forRoot(database.options),
    AuthModule.forRoot({ jwtSecret: TEST_SECRET, bcryptRounds: 4, ...auth }),
    resources,
  ];
  const running = await startApp(platform, { ...module, imports }, { onClose: database.drop });
  return {
    ...running,
    api: `${running.url}/api`,
    accounts: running.app.get(UserAccounts, { strict: false }),
    dataSource: running.app.get(DataSource, { strict: false }),
  };
}

export const PAGES = { enablePagination: true } as const;

export interface Library extends Service {
  /** The table of an entity is emptied, and gets these rows. */
  fill: (entity: new () => object, rows: object[]) => Promise<void>;
}

export async function startLibrary(platform: Platform, auth: Partial<AuthOptions> = {}): Promise<Library> {
  const service = await startService(
    platform,
    { userClass: Member, ...auth },
    CrudModule.forFeature(
      BooksController,
      { entity: Shelf, endpoint: '/api/shelves', ...PAGES, filterableFields: ['id'], sortableFields: ['id'] },
      { entity: Note, endpoint: '/api/books/:bookId/notes', ...PAGES, sortableFields: ['text'] },
      LabelsController,
      { entity: Tag, endpoint: '/api/tags', ...PAGES },
      { entity: Contract, endpoint: '/api/contracts', ...PAGES, enableBatch: true, requireIfMatch: true },
      { entity: Entry, endpoint: '/api/entries', enablePagination: 'cursor', sortableFields: ['name'] },
      { entity: Country, endpoint: '/api/countries', filterableFields: ['id'] },
    ),
    { controllers: [OwnController], providers: [LibrarySecurity] },
  );
  const { dataSource } = service;
  return {
    ...service,
    fill: async (entity, rows) => {
      await dataSource.createQueryBuilder().delete().from(entity).execute();
      if (rows.length > 0) await dataSource.getRepository(entity).insert(rows);
    },
  };
}

export interface SentRequest {
  method: string;
  /** Below the base, decoded. */
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

/** Options of providers that share a storage, and record what they send. */
export interface RecordedOptions {
  fetch: typeof fetch;
  storage: TokenStorage;
  /** What all have sent. */
  sent: SentRequest[];
  /** Where the login is. */
  items: Map<string, string>;
}

export function recordedOptions(api: string): RecordedOptions {
  const sent: SentRequest[] = [];
  const items = new Map<string, string>();
  const record: typeof fetch = (input, init = {}) => {
    const { method = '', headers, body } = init;
    sent.push({
      method,
      path: decodeURIComponent(String(input).replace(api, '')),
      headers: { ...(headers as Record<string, string>) },
      body: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined,
    });
    return fetch(input, init);
  };
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  return { fetch: record, storage, sent, items };
}

/** A `fetch` behind a proxy that changes the ETag of answers, or removes it. */
export const changingTags =
  (change: (tag: string) => string | undefined, fetch = globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const headers = new Headers(response.headers);
    const tag = headers.get('etag');
    const changed = tag === null ? undefined : change(tag);
    headers.delete('etag');
    if (changed !== undefined) headers.set('etag', changed);
    return new Response(response.body, { status: response.status, headers });
  };

export interface Providers extends Pick<RecordedOptions, 'sent' | 'items'> {
  data: DeclarestDataProvider;
  auth: ReturnType<typeof authProvider>;
}

/** Providers with a storage of their own, which record what they send. */
export function providersFor(api: string, options: AuthProviderOptions = {}): Providers {
  const { sent, items, ...recorded } = recordedOptions(api);
  const all = { ...recorded, ...options };
  return { data: dataProvider(api, all), auth: authProvider(api, all), sent, items };
}
