/** The caller of generated operations that hand-written code calls, and what guards of the application write. */
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Post,
  UseGuards,
} from '@nestjs/common';
import { UseInterceptors } from '@nestjs/common';
import { APP_GUARD, ModuleRef } from '@nestjs/core';
import { GraphQLModule, Mutation, Query, Resolver } from '@nestjs/graphql';
import { FileInterceptor } from '@nestjs/platform-express';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  AccessModule,
  CrudController,
  CurrentUser,
  fromRequest,
  type HookContext,
  type Principal,
  runAs,
} from 'declarest';
import { io } from 'socket.io-client';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule, securityConfig } from '../access/ruled-app.js';
import { type CrudService, startCrud } from '../crud/service.js';
import { request } from '../harness/client.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
  @Column({ nullable: true, type: 'varchar' }) secret!: string | null;
  @Column() ownerId!: number;
}

const ANN = 7;
const BOB = 8;
const tokenOf = (id: number, roles = ['USER']): string => makeToken({ payload: claims({ sub: String(id), roles }) });

let contexts: HookContext[];
/** A scope that shows everything to nobody, as one for internal use would. */
class Notes extends CrudController({
  entity: Note,
  endpoint: '/notes',
  scope: ({ user }) => (user ? { ownerId: Number(user.id) } : true),
  owner: { field: 'ownerId', except: ['ADMIN'] },
  fieldPermissions: { secret: { read: ['ADMIN'], write: ['ADMIN'] } },
}) {
  override beforeCreate(_: unknown, context: HookContext): void {
    contexts.push(context);
  }
}

@Injectable()
class NoteService {
  constructor(private readonly moduleRef: ModuleRef) {}

  private get notes(): Notes {
    return this.moduleRef.get(Notes, { strict: false });
  }

  async read(): Promise<string> {
    // Code that waits keeps its caller.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const { data } = await this.notes.findAll({});
    return data.map(({ text }) => text).join();
  }

  async write(text: string): Promise<string> {
    const { data } = await this.notes.create({ text });
    return `${data.text} of ${data.ownerId}`;
  }
}

let guarded: string[];
@Injectable()
class ReadingGuard implements CanActivate {
  constructor(private readonly service: NoteService) {}
  async canActivate(): Promise<boolean> {
    guarded.push(await this.service.read());
    return true;
  }
}

@Controller('own')
class OwnController {
  constructor(private readonly service: NoteService) {}

  @Get('read')
  @UseGuards(ReadingGuard)
  read(): Promise<string> {
    return this.service.read();
  }
  @Post('write')
  @UseGuards(ReadingGuard)
  write(@Body() { text }: { text: string }): Promise<string> {
    return this.service.write(text);
  }
  @Get('as')
  as(@CurrentUser() user: Principal | undefined): Promise<string> {
    return runAs(user, () => this.service.read());
  }
}

@Controller('uploads')
class UploadController {
  constructor(private readonly service: NoteService) {}
  @Post()
  @UseInterceptors(FileInterceptor('file'))
  upload(): Promise<string> {
    return this.service.read();
  }
}

@Resolver()
class NoteResolver {
  constructor(private readonly service: NoteService) {}
  @Query(() => String)
  read(): Promise<string> {
    return this.service.read();
  }
  @Mutation(() => String)
  write(): Promise<string> {
    return this.service.write('resolved');
  }
}

@WebSocketGateway()
class NoteGateway {
  constructor(private readonly service: NoteService) {}
  @SubscribeMessage('read')
  read(): Promise<string> {
    return this.service.read();
  }
}

const startWith = (platform: Platform, parts: Partial<Parameters<typeof startCrud>[1]> = {}): Promise<CrudService> =>
  startCrud(platform, {
    entities: [Note],
    resources: [Notes],
    isDescribed: false,
    ...parts,
    controllers: [OwnController, ...(platform === 'express' ? [UploadController] : [])],
    providers: [NoteService, NoteGateway, ...(parts.providers ?? [])],
    imports: [authModule({ defaultAccess: 'public' }), ...(parts.imports ?? [])],
  });

const fill = (service: CrudService): Promise<unknown> =>
  service.dataSource.getRepository(Note).insert([
    { text: 'ann', ownerId: ANN, secret: 'hidden' },
    { text: 'bob', ownerId: BOB, secret: 'hidden' },
  ]);

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  const send = async (method: string, path: string, id: number | undefined, json?: unknown): Promise<string> => {
    const token = id === undefined ? {} : { token: tokenOf(id) };
    const answer = await request(service.url, method, path, { ...token, ...(json !== undefined && { json }) });
    return answer.status < 300 ? answer.text : String(answer.status);
  };

  describe('hand-written handlers', () => {
    beforeAll(async () => {
      const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true });
      service = await startWith(platform, { imports: [graphql], providers: [NoteResolver] });
    });
    afterAll(() => service.close());
    beforeEach(async () => {
      [contexts, guarded] = [[], []];
      await service.dataSource.getRepository(Note).clear();
      await fill(service);
    });

    it('[2.7] [9.1] a controller, its service and its guards have the caller of the request', async () => {
      expect(await send('GET', '/own/read', ANN)).toBe('ann');
      expect(await send('GET', '/own/read', BOB)).toBe('bob');
      expect(guarded).toEqual(['ann', 'bob']);
    });

    it('[2.7] [9.2] also behind a body, where a record gets its owner', async () => {
      expect(await send('POST', '/own/write', ANN, { text: 'new' })).toBe(`new of ${ANN}`);
      expect(guarded).toEqual(['ann']);
      expect(contexts[0]).toMatchObject({ user: { id: ANN }, request: { method: 'POST' } });
      expect(await send('POST', '/own/write', undefined, { text: 'new' })).toBe('401');
    });

    it('[2.7] requests at the same time keep their callers', async () => {
      const ids = Array.from({ length: 30 }, (_, index) => (index % 2 ? ANN : BOB));
      const found = await Promise.all(ids.map((id) => send('GET', '/own/read', id)));
      expect(found).toEqual(ids.map((id) => (id === ANN ? 'ann' : 'bob')));
    });

    it('[2.7] [3.7] a resolver', async () => {
      const run = (query: string, id: number) => send('POST', '/graphql', id, { query });
      expect(await run('{ read }', ANN)).toContain('"read":"ann"');
      expect(await run('mutation { write }', BOB)).toContain(`resolved of ${BOB}`);
    });

    it('[2.7] [3.7] a gateway, for each message the user of its token', async () => {
      const socket = io(service.url, { forceNew: true, reconnection: false, auth: { token: tokenOf(ANN) } });
      const read = (): Promise<string> => new Promise((resolve) => socket.emit('read', {}, resolve));
      expect(await read()).toBe('ann');
      socket.disconnect();
    });

    it('[2.7] runAs takes what @CurrentUser() gives, with its roles', async () => {
      expect(await send('GET', '/own/as', BOB)).toBe('bob');
    });

    it.runIf(platform === 'express')('[2.7] a handler behind a parser of multipart bodies', async () => {
      const form = new FormData();
      form.append('file', new Blob(['x'.repeat(100_000)]), 'a.txt');
      const headers = { authorization: `Bearer ${tokenOf(ANN)}` };
      const answer = await fetch(`${service.url}/uploads`, { method: 'POST', body: form, headers });
      expect(await answer.text()).toBe('ann');
    });

    it('[2.7] code outside of a request stays anonymous', async () => {
      expect(await service.app.get(NoteService).read()).toBe('ann,bob');
    });
  });

  /** Such as those of passport, nestjs-better-auth and nest-keycloak-connect. */
  describe('a guard that writes to request.user', () => {
    type Written = { user?: Record<string, unknown> | undefined };
    const WRITES: readonly [string, (request: Written) => void][] = [
      ['replaces it', (each) => (each.user = { id: BOB, roles: ['ADMIN'] })],
      ['removes it', (each) => (each.user = undefined)],
      ['gives it other members', (each) => (each.user = { sub: 'x', realm_access: { roles: ['ADMIN'] } })],
      ['changes it', (each) => each.user && Object.assign(each.user, { id: BOB, roles: ['ADMIN'] })],
      ['adds a role', (each) => (each.user?.['roles'] as string[] | undefined)?.push('ADMIN')],
    ];

    it.each(WRITES)('[1] [9.1] [9.2] [9.3] and %s changes no decision', async (_, write) => {
      const guard: CanActivate = {
        canActivate(context: ExecutionContext) {
          write(context.switchToHttp().getRequest<Written>());
          return true;
        },
      };
      service = await startWith(platform, { providers: [{ provide: APP_GUARD, useValue: guard }] });
      await fill(service);
      const { json } = await request(service.url, 'GET', '/notes', { token: tokenOf(ANN) });
      expect(json).toMatchObject({ data: [{ text: 'ann', ownerId: ANN }] });
      expect(JSON.stringify(json)).not.toContain('hidden');
      expect(await send('POST', '/notes', ANN, { text: 'new' })).toContain(`"ownerId":${ANN}`);
      // An administrator stays one.
      const admin = { token: tokenOf(ANN, ['ADMIN']) };
      expect((await request(service.url, 'GET', '/notes', admin)).text).toContain('hidden');
      expect((await request(service.url, 'DELETE', '/notes/1', admin)).status).toBe(200);
      await service.close();
    });

    it('[1] AccessModule with `fromRequest` takes the user that its function returns', async () => {
      const authenticate: CanActivate = {
        canActivate(context: ExecutionContext) {
          context.switchToHttp().getRequest<Written>().user = { sub: String(ANN), roles: ['ADMIN'] };
          return true;
        },
      };
      service = await startCrud(platform, {
        entities: [Note],
        resources: [Notes],
        isDescribed: false,
        controllers: [OwnController],
        providers: [
          NoteService,
          { provide: APP_GUARD, useValue: authenticate },
          securityConfig((rules) => rules.publicEndpoints('/**')),
        ],
        imports: [
          AccessModule.forRoot({
            authenticate: fromRequest(({ user }) => user && { id: Number(user.sub), roles: [] }),
          }),
        ],
      });
      await fill(service);
      expect(await send('GET', '/own/read', undefined)).toBe('ann');
      expect(await send('GET', '/notes', undefined)).not.toContain('hidden');
      await service.close();
    });
  });

  it('[2.7] an application without AuthModule takes request.user of its guards, in its own handlers too', async () => {
    const guard: CanActivate = {
      canActivate(context: ExecutionContext) {
        context.switchToHttp().getRequest<{ user?: unknown }>().user = { id: BOB, roles: [] };
        return true;
      },
    };
    service = await startCrud(platform, {
      entities: [Note],
      resources: [Notes],
      isDescribed: false,
      controllers: [OwnController],
      providers: [NoteService, { provide: APP_GUARD, useValue: guard }],
    });
    await fill(service);
    expect(await send('GET', '/own/read', undefined)).toBe('bob');
    expect(await send('POST', '/own/write', undefined, { text: 'new' })).toBe(`new of ${BOB}`);
    await service.close();
  });
});
