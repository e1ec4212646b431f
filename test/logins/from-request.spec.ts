/** fromRequest(): users that guards, middleware or a gateway have found before. */
import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  Module,
  Scope,
  UnauthorizedException,
} from '@nestjs/common';
import { type FromRequestOptions, fromRequest, SecurityConfig } from 'declarest';
import { accessMatrix, as } from 'declarest/testing';
import { of } from 'rxjs';
import { untilLimit } from '../harness/limit.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { type NotesApp, startNotes } from './notes-app.js';

type Incoming = { headers: Record<string, string | undefined>; user?: unknown };
const incoming = (context: ExecutionContext): Incoming => context.switchToHttp().getRequest<Incoming>();

@Injectable()
class Directory {
  readonly names = new Map([['7', 'ann']]);
}

/** As a guard of passport: it sets `request.user`, or refuses by 401. */
@Injectable()
class TicketGuard implements CanActivate {
  constructor(private readonly directory: Directory) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = incoming(context);
    const ticket = request.headers['x-ticket'];
    if (ticket === 'broken') throw new Error('the directory is away');
    if (ticket === 'hanging') return new Promise(() => {});
    const name = this.directory.names.get(String(ticket));
    if (name === undefined) throw new UnauthorizedException('no ticket');
    request.user = { name, groups: String(request.headers['x-groups'] ?? '').split(' ') };
    return true;
  }
}

/** A guard behind it, which refuses some of its users. */
class NotSuspended implements CanActivate {
  canActivate(context: ExecutionContext) {
    if (incoming(context).headers['x-suspended'] === 'forbidden') throw new ForbiddenException();
    return of(incoming(context).headers['x-suspended'] === undefined);
  }
}

@Module({ providers: [Directory, TicketGuard], exports: [TicketGuard] })
class TicketsModule {}

class FileRules extends SecurityConfig {
  override configure(): void {
    this.requireAuth('/api/files/**');
  }
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: NotesApp;
  afterEach(() => app?.close());
  const start = async (options: FromRequestOptions = { guards: [TicketGuard, new NotSuspended()] }, more = {}) =>
    (app = await startNotes(
      platform,
      {
        authenticate: fromRequest(({ user }) => user && { id: user.name, roles: user.groups, tenantId: 't1' }, options),
        roleHierarchy: { CHIEF: ['ADMIN'] },
      },
      { imports: [TicketsModule], ...more },
    ));
  const statuses = (headers: Record<string, string>) =>
    Promise.all(
      ['/open', '/api/me', '/api/admin', '/api/edit', '/api/own/t1', '/api/notes'].map(
        async (path) => (await app.get(path, { headers })).status,
      ),
    );

  it('the named guards run for every handler, before the rules', async () => {
    await start();
    expect(await statuses({})).toEqual([200, 401, 401, 401, 401, 401]);
    expect(await statuses({ 'x-ticket': '8' })).toEqual([200, 401, 401, 401, 401, 401]);
    expect(await statuses({ 'x-ticket': '7', 'x-groups': 'EDITOR' })).toEqual([200, 200, 403, 200, 200, 200]);
    expect(await statuses({ 'x-ticket': '7', 'x-groups': 'CHIEF' })).toEqual([200, 200, 200, 403, 200, 200]);
    const user = { id: 'ann', email: '', roles: ['EDITOR'], tenantId: 't1' };
    const headers = { 'x-ticket': '7', 'x-groups': 'EDITOR' };
    // A public route has the user, too, and request.user is what the function has returned.
    expect((await app.get('/open', { headers })).json).toEqual({ user, same: true });
    const refused = await app.get('/api/me');
    expect([refused.json, refused.headers['www-authenticate']]).toEqual([
      { error: 'Authentication required' },
      'Bearer',
    ]);
  });

  it.each(['false', 'forbidden'])(
    'a user whom a further guard refuses is none, also on public routes: %s',
    async (how) => {
      await start();
      const headers = { 'x-ticket': '7', 'x-groups': 'ADMIN', 'x-suspended': how };
      expect(await statuses(headers)).toEqual([200, 401, 401, 401, 401, 401]);
      expect((await app.get('/open', { headers })).json).toEqual({ user: null, same: true });
    },
  );

  it('a guard that fails or hangs is 503, and public routes go on', async () => {
    await start();
    expect(await statuses({ 'x-ticket': 'broken' })).toEqual([200, 503, 503, 503, 503, 503]);
    const hanging = await untilLimit(5_000, 6, () => statuses({ 'x-ticket': 'hanging' }));
    expect(hanging).toEqual([200, 503, 503, 503, 503, 503]);
  });

  it('without guards, the user is what middleware has set', async () => {
    const configure = (nest: { use(middleware: unknown): void }) =>
      nest.use((request: Incoming & { raw?: unknown }, _response: unknown, next: () => void) => {
        const { 'x-gateway-user': name } = request.headers;
        if (name) request.headers['x-checked'] = name;
        next();
      });
    app = await startNotes(
      platform,
      { authenticate: fromRequest(({ headers }) => headers['x-checked'] && { id: String(headers['x-checked']) }) },
      { configure },
    );
    expect(await statuses({})).toEqual([200, 401, 401, 401, 401, 401]);
    expect(await statuses({ 'x-gateway-user': 'ann' })).toEqual([200, 200, 403, 403, 403, 200]);
  });

  it('a user that is malformed is none, and does not stay in request.user', async () => {
    app = await startNotes(
      platform,
      {
        authenticate: fromRequest(({ user }) => ({ id: user.groups }), { guards: [TicketGuard] }),
      },
      { imports: [TicketsModule] },
    );
    const headers = { 'x-ticket': '7' };
    expect(await statuses(headers)).toEqual([200, 401, 401, 401, 401, 401]);
    expect((await app.get('/open', { headers })).json).toEqual({ user: null, same: true });
    expect(linesOf(app.logs, 'warn').join()).toContain('The `id` of a user must be');
  });

  it('accessMatrix and as() need no ticket', async () => {
    await start();
    expect((await accessMatrix(app.app)).filter(({ agrees }) => !agrees)).toEqual([]);
    expect((await as(app.app, { roles: ['ADMIN'] }).get('/api/admin')).status).toBe(200);
  });

  it('paths outside of Nest are closed, because no guard runs there', async () => {
    await start(undefined, {
      configure: (nest: { use(path: string, middleware: unknown): void }) =>
        nest.use('/api/files', (_request: unknown, response: { end(text: string): void }) => response.end('file')),
      providers: [FileRules],
    });
    expect((await app.get('/api/files/x', { headers: { 'x-ticket': '7' } })).status).toBe(401);
  });
});

describe('the start', () => {
  it.each([
    ['no function', undefined, {}, /The first argument of fromRequest must be a function, got undefined/],
    [
      'guards that are none',
      () => undefined,
      { guards: [Directory] },
      /`guards` of fromRequest must be an array of guards/,
    ],
    [
      'one guard',
      () => undefined,
      { guards: TicketGuard },
      /`guards` of fromRequest must be an array of guards, got `TicketGuard`/,
    ],
    ['an unknown option', () => undefined, { guard: [] }, /The options of fromRequest must .+got "guard"/],
  ])('is refused by one sentence for %s', (_what, userOf, options, sentence) => {
    expect(() => fromRequest(userOf as never, options as never)).toThrow(sentence);
  });

  it('is refused for a request-scoped guard', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class ScopedGuard implements CanActivate {
      canActivate() {
        return true;
      }
    }
    const authenticate = fromRequest(() => undefined, { guards: [TicketGuard, ScopedGuard as never] });
    const failed = startNotes('express', { authenticate }, { imports: [TicketsModule], providers: [ScopedGuard] });
    await expect(failed).rejects.toThrow(/ScopedGuard must be a singleton provider/);
  });
});
