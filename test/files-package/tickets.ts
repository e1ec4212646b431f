/** A service whose records have files, in a folder of its own. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConflictException, type CanActivate, type ExecutionContext, type Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { CrudOptions, CrudRecord } from 'declarest';
import { diskStorage, FileColumn, FileCrudController, type FileStorage, type StoredFile } from 'declarest-files';
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { type Answer, request } from '../harness/client.js';
import type { DatabaseName } from '../harness/databases.js';
import type { Platform } from '../harness/platforms.js';
import { startCrud, type CrudParts, type CrudService } from '../crud/service.js';

export const MAX_BYTES = 20_000;

@Entity()
export class Ticket {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) ownerId!: string | null;
  @Column({ length: 20, default: 'Bergen' }) city!: string;
  @FileColumn({ types: ['image/png', 'image/jpeg'], maxBytes: MAX_BYTES }) photo!: StoredFile | null;
  @FileColumn({ types: ['application/pdf'], maxBytes: MAX_BYTES }) report!: StoredFile | null;
  @VersionColumn() version!: number;
}

@Entity()
export class Letter {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @FileColumn({ types: ['application/pdf'], maxBytes: MAX_BYTES }) scan!: StoredFile | null;
  @DeleteDateColumn() deletedAt!: Date | null;
}

export const TICKETS: CrudOptions<Ticket> = {
  entity: Ticket,
  endpoint: '/tickets',
  enableBatch: true,
  owner: { field: 'ownerId', except: ['STAFF'] },
  scope: ({ user }) => user?.roles.includes('STAFF') || { city: 'Bergen' },
  fieldPermissions: { report: { read: ['STAFF'], write: ['STAFF'] } },
};

const LETTERS = { entity: Letter, endpoint: '/letters', deletedRoles: ['STAFF'], enableRestore: true } as const;

/** The user is what the header says: `ann`, or `eve:STAFF`. */
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const sent = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    const [id, ...roles] = (sent.headers['x-user'] ?? '').split(':');
    if (id) sent.user = { id, email: '', roles };
    return true;
  }
}
const guard: Provider = { provide: APP_GUARD, useClass: HeaderGuard };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PNG = Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.from('0123456789'.repeat(1_000))]);
export const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(400, 'x')]);
export const PDF = Buffer.from(`%PDF-1.4\n${'x'.repeat(200)}\n%%EOF`);

export interface Sent {
  type?: string;
  as?: string;
  headers?: Record<string, string>;
}

export interface Tickets extends CrudService {
  storage: FileStorage;
  /** The files that the storage has. */
  stored: () => Promise<string[]>;
  upload: (path: string, body: Buffer | string, sent?: Sent) => Promise<Answer>;
  as: (user: string, method: string, path: string, json?: unknown) => Promise<Answer>;
  /** The body as it is. */
  download: (path: string, headers?: Record<string, string>) => Promise<Downloaded>;
}

export interface Downloaded {
  status: number;
  headers: Headers;
  body: Buffer;
}

export async function startTickets(
  platform: Platform,
  { storage: given, ...parts }: Partial<CrudParts> & { storage?: FileStorage; database?: DatabaseName } = {},
): Promise<Tickets> {
  const folder = await mkdtemp(join(tmpdir(), 'declarest-files-'));
  const storage = given ?? diskStorage(folder);
  class TicketsController extends FileCrudController(TICKETS, storage) {
    override whenUpdated({ title }: CrudRecord<Ticket>): void {
      if (title === 'refused') throw new ConflictException('Refused by a hook');
    }
  }
  const service = await startCrud(platform, {
    entities: [Ticket, Letter],
    resources: [TicketsController, FileCrudController(LETTERS, storage)],
    providers: [guard],
    isDescribed: false,
    onClose: () => rm(folder, { recursive: true, force: true }),
    ...parts,
  });
  const { url, send } = service;
  return {
    ...service,
    storage,
    stored: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.flatMap((each) => (each.isFile() ? each.name : [])).toSorted();
    },
    upload: (path, body, { type = 'image/png', as = 'ann', headers = {} } = {}) =>
      request(url, 'PUT', path, { body, headers: { 'content-type': type, 'x-user': as, ...headers } }),
    as: (user, method, path, json) =>
      send(method, path, { headers: { 'x-user': user }, ...(json !== undefined && { json }) }),
    async download(path, headers = {}) {
      const answer = await fetch(url + path, { headers: { 'x-user': 'ann', ...headers } });
      return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
    },
  };
}
