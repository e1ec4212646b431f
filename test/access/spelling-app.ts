import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import type { Platform } from '../harness/platforms.js';
import { type RawAnswer, type RawRequestParts, rawTarget } from '../harness/raw-socket.js';
import { type Entry, type RuledApp, startRuled, wildcard } from './ruled-app.js';

/** The router's settings: its own, or all the other way round: Express is lenient by itself, Fastify is strict. */
export const ROUTERS = ['default', 'unusual'] as const;
export type Router = (typeof ROUTERS)[number];

export function adapterFor(platform: Platform, router: Router): ExpressAdapter | FastifyAdapter {
  const unusual = router === 'unusual';
  if (platform === 'express') {
    const server = express();
    // Before the adapter is made: Express reads them when it makes its router, which is soon.
    server.set('case sensitive routing', unusual);
    server.set('strict routing', unusual);
    return new ExpressAdapter(server);
  }
  const routerOptions = {
    ignoreTrailingSlash: unusual,
    ignoreDuplicateSlashes: unusual,
    caseSensitive: !unusual,
    useSemicolonDelimiter: unusual,
  };
  return new FastifyAdapter({ forceCloseConnections: true, routerOptions });
}

/** Routes that are public, protected, for a role, and served in part by each, with handlers that record that they ran. */
export async function startSpellingApp(platform: Platform, router: Router): Promise<RuledApp> {
  return startRuled(platform, {
    adapter: adapterFor(platform, router),
    routes: [
      'GET open/page',
      'GET open/users/:id',
      'GET open/kiosk/:id',
      'GET open/café/:id',
      'ALL open/any/:id',
      `GET ${wildcard(platform, 'open/wild')}`,
      'GET api/plain',
      'POST api/plain',
      'ALL api/any',
      'GET api/kiosk/:id',
      'GET api/admin/stats',
      'GET api/files/:name',
      `GET ${wildcard(platform, 'api/wild')}`,
      'GET api/published',
    ],
    rules: ({ publicEndpoints, requireAuth, requireRole }) => {
      publicEndpoints('/open/**');
      requireAuth(
        '/open/users/me',
        '/open/kiosk/secret',
        '/open/café/SECRET',
        '/open/wild/*',
        '/open/wild/deep/**',
        'POST,PUT,DELETE /open/any/**',
      );
      requireAuth('/api/**');
      requireRole('ADMIN', '/api/admin/**');
      publicEndpoints('/api/published', '/api/files/readme', '/api/wild/readme', '/api/wild/public/**', '/api/kiosk/1');
    },
  });
}

/**
 * Whether somebody without a token may be where this handler was entered, judged by what the handler was given and by the
 * very bytes of the target: a restriction holds for every spelling of a path, a permission for the clean one.
 */
export function mayBeEntered({ route, params }: Omit<Entry, 'id'>, method: string, target: string): boolean {
  const path = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  const clean = (...paths: (string | RegExp)[]): boolean =>
    paths.some((each) => (typeof each === 'string' ? path === each : each.test(path)));
  const levels = levelsOf(Object.values(params)[0]);
  // A plain pattern is exactly its path (3.1): what the handler sees as `secret/x`, in one level, is another one.
  const whole = levels.join('/').toLowerCase();
  switch (route.split(' ')[1]?.split('/').slice(0, 2).join('/')) {
    case 'open/page':
    case 'api/published':
      return true;
    case 'open/users':
      return whole !== 'me';
    case 'open/kiosk':
    case 'open/café':
      return whole !== 'secret';
    case 'open/any':
      return !['POST', 'PUT', 'DELETE'].includes(method);
    case 'open/wild':
      return levels.length !== 1 && levels[0]?.toLowerCase() !== 'deep';
    case 'api/files':
      return clean('/api/files/readme');
    case 'api/kiosk':
      return clean('/api/kiosk/1');
    case 'api/wild':
      return clean('/api/wild/readme', /^\/api\/wild\/public(?:\/(?!\.{1,2}(?:\/|$))[\w.:@()*'-]+)*$/);
    default:
      return false;
  }
}

/** Express hands a wildcard over level by level, Fastify as one text. */
function levelsOf(value: string | string[] | undefined): string[] {
  return Array.isArray(value) ? value : (value ?? '').split('/');
}

export interface Sent {
  answer: RawAnswer;
  /** What the request entered. */
  entries: Entry[];
}

let sent = 0;

/** Sends this target and tells which handlers it entered. */
export async function send(app: RuledApp, target: string, parts: RawRequestParts = {}): Promise<Sent> {
  const id = `r${++sent}`;
  const answer = await rawTarget(app.port, target, { ...parts, headers: [`X-Id: ${id}`, ...(parts.headers ?? [])] });
  return { answer, entries: app.entered.filter((entry) => entry.id === id) };
}
