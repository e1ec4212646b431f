import { isDeepStrictEqual } from 'node:util';
/** An application without AuthModule: routes with rules, and notes that belong to the users who wrote them. */
import { Controller, Get, type ModuleMetadata, Req } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AccessModule,
  type AccessModuleOptions,
  CrudModule,
  CurrentUser,
  type Principal,
  Roles,
  SecurityConfig,
} from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { type Platform, type RunningApp, startApp, type StartOptions } from '../harness/platforms.js';

@Entity('origin_notes')
export class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 255 })
  writer!: string;

  @Column({ type: 'varchar', length: 50 })
  text!: string;
}

@Controller()
export class RoutesController {
  @Get('open')
  open(@CurrentUser() user: Principal | undefined, @Req() sent: { user?: unknown }) {
    return { user: user ?? null, same: isDeepStrictEqual(sent.user, user) };
  }
  @Get('api/me')
  me(@CurrentUser() user: Principal) {
    return user;
  }
  @Get('api/admin')
  admin() {
    return {};
  }
  @Roles('EDITOR')
  @Get('api/edit')
  edit() {
    return {};
  }
  @Get('api/own/:tenant')
  own() {
    return {};
  }
}

export class Rules extends SecurityConfig {
  override configure(): void {
    this.publicEndpoints('/open', 'GET /api/notes/count');
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', '/api/admin');
    this.requirePolicy('tenant', (user: Principal<{ tenantId?: unknown }>) => user.tenantId === 't1', '/api/own/*');
  }
}

export const NOTES = {
  entity: Note,
  endpoint: '/api/notes',
  owner: { field: 'writer' },
  enableCount: true,
  access: { create: 'authenticated' },
} as const;

export interface NotesApp extends RunningApp {
  get(path: string, options?: RequestOptions): Promise<Answer>;
}

export async function startNotes(
  platform: Platform,
  options: AccessModuleOptions,
  { imports = [], providers = [], ...more }: Pick<ModuleMetadata, 'imports' | 'providers'> & StartOptions = {},
): Promise<NotesApp> {
  const database = await createDatabase();
  const root = {
    imports: [
      TypeOrmModule.forRoot(database.options),
      AccessModule.forRoot(options),
      CrudModule.forFeature(NOTES),
      ...imports,
    ],
    controllers: [RoutesController],
    providers: [Rules, ...providers],
  };
  const app = await startApp(platform, root, { ...more, onClose: () => database.drop() });
  return { ...app, get: (path, sent) => request(app.url, 'GET', path, sent) };
}
