/** Random applications for the proof: routes, rules over them, and the concrete paths that the routes serve. */
import type { Random } from '../../access/random.js';
import type { Declaration, Decoration, DefaultAccess } from './rules-model.js';

export type Platform = 'express' | 'fastify';

export interface RandomRoute {
  /** What decorators say: `class` before `method`. */
  readonly said: readonly Decoration[];
  /** One of the package's own, which declares who gets in. */
  readonly own?: OwnRoute;
  readonly method: string;
  readonly template: string;
  readonly paths: readonly ServedPath[];
}

/** A clean path that a route serves, and what its router finds for the parameters. */
export interface ServedPath {
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type OwnRoute = 'register' | 'login' | 'me';

export interface RandomApplication {
  /** Of the package's own routes; `undefined` where there are none. */
  readonly authBasePath: string | undefined;
  readonly routes: readonly RandomRoute[];
  readonly rules: readonly Declaration[];
  readonly byDefault: DefaultAccess;
  readonly hierarchy: Readonly<Record<string, readonly string[]>>;
  /** `undefined`: every role. */
  readonly enforced: readonly string[] | undefined;
}

/** One segment of a template: its literal text, or the name of a parameter behind some text, or all that follows. */
type Segment =
  | { readonly literal: string }
  | { readonly parameter: string; readonly after: string; readonly optional?: boolean }
  | { readonly rest: string; readonly optional: boolean };

const WORDS = ['admin', 'users', 'me', 'stats', 'u-7', 'file.txt', '~', 'API', 'Me'];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE', 'ALL'];
const ROLES = ['ADMIN', 'EDITOR', 'AUTHOR', 'AUDITOR', 'USER'];
export const POLICIES = ['owner', 'office hours'];
const HIERARCHIES = [{}, {}, { ADMIN: ['EDITOR'], EDITOR: ['AUTHOR'] }];
const MOST_PATHS = 10;

/** Few words for each application, so that its rules and routes meet. */
interface Draw {
  readonly random: Random;
  readonly platform: Platform;
  readonly words: readonly string[];
}

export function randomApplication(random: Random, platform: Platform): RandomApplication {
  const draw: Draw = { random, platform, words: ['api', ...random.shuffled(WORDS).slice(0, 3)] };
  const drawn = distinct(
    Array.from({ length: 1 + random.below(5) }, () => randomRoute(draw)),
    ({ method, template }) => `${method} ${template}`,
  );
  // No other word is "auth": no other route serves these paths.
  const authBasePath = random.of([undefined, undefined, undefined, '/auth', '/api/auth', '/api/auth']);
  const routes = authBasePath === undefined ? drawn : [...drawn, ownRoute(random, authBasePath)];
  return {
    routes,
    authBasePath,
    rules: Array.from({ length: 1 + random.below(9) }, () => randomRule(random, routes)),
    byDefault: random.of(['authenticated', 'authenticated', 'public', 'denied']),
    hierarchy: random.of<RandomApplication['hierarchy']>(HIERARCHIES),
    enforced: random.of([undefined, undefined, ['ADMIN'], ['EDITOR', 'AUDITOR']]),
  };
}

function randomRoute(draw: Draw): RandomRoute {
  const segments = randomSegments(draw);
  const template = segments.map((segment) => written(segment, draw.platform)).join('');
  const paths = Array.from({ length: 2 * MOST_PATHS }, () => servedPath(segments, draw));
  return {
    method: draw.random.of(METHODS),
    template: template === '' ? '/' : template,
    said: randomDecorators(draw.random),
    paths: distinct(paths, ({ path }) => path).slice(0, MOST_PATHS),
  };
}

/** One of them: a path that rules either name or miss leaves fewer pairs of another kind. */
function ownRoute(random: Random, base: string): RandomRoute {
  const own = random.of<OwnRoute>(['register', 'login', 'me']);
  const template = `${base}/${own}`;
  return { own, method: own === 'me' ? 'GET' : 'POST', template, said: [], paths: [{ path: template, params: {} }] };
}

/** None on most routes, two at one place on some. */
function randomDecorators(random: Random): Decoration[] {
  const on = (place: Decoration['on']): Decoration[] =>
    Array.from({ length: random.of([0, 0, 0, 0, 1, 1, 1, 2]) }, () => {
      const kind = random.of(['public', 'authenticated', 'anyRole'] as const);
      return { on: place, kind, roles: random.shuffled(ROLES).slice(0, 1 + random.below(2)) };
    });
  return [...on('class'), ...on('method')];
}

function randomSegments({ random, words }: Draw): Segment[] {
  const length = random.of([0, 1, 2, 2, 3, 3, 4]);
  return Array.from({ length }, (_, index): Segment => {
    const isLast = index === length - 1;
    const chance = random.below(100);
    if (isLast && chance < 15) return { rest: 'rest', optional: random.below(3) === 0 };
    if (isLast && chance < 20) return { parameter: `p${index}`, after: '', optional: true };
    if (index > 0 && chance < 55) return { parameter: `p${index}`, after: random.below(8) === 0 ? 'u-' : '' };
    return { literal: index === 0 && random.below(2) === 0 ? 'api' : random.of(words) };
  });
}

function written(segment: Segment, platform: Platform): string {
  if ('literal' in segment) return `/${segment.literal}`;
  if (platform === 'fastify') {
    if ('rest' in segment) return '/*';
    return `/${segment.after}:${segment.parameter}${segment.optional ? '?' : ''}`;
  }
  const text = 'rest' in segment ? `/*${segment.rest}` : `/${segment.after}:${segment.parameter}`;
  return segment.optional ? `{${text}}` : text;
}

function servedPath(segments: readonly Segment[], { random, platform, words }: Draw): ServedPath {
  const anyValue = (): string => random.of([...words, '7']);
  const levels: string[] = [];
  const params: Record<string, unknown> = {};
  for (const segment of segments) {
    if ('literal' in segment) levels.push(segment.literal);
    else if ('parameter' in segment) {
      if (segment.optional && random.below(2) === 0) continue;
      const value = anyValue();
      levels.push(segment.after + value);
      params[segment.parameter] = value;
    } else {
      // On Fastify "/files/*" does not serve "/files", and "/files/" is not clean.
      const mayBeNone = platform === 'express' && segment.optional;
      const values = Array.from({ length: random.below(3) + (mayBeNone ? 0 : 1) }, anyValue);
      if (values.length === 0) continue;
      levels.push(...values);
      if (platform === 'express') params[segment.rest] = values;
      else params['*'] = values.join('/');
    }
  }
  return { path: `/${levels.join('/')}`, params };
}

export function randomRule(random: Random, routes: readonly RandomRoute[]): Declaration {
  const pattern = `${randomMethods(random)}${randomPattern(random, routes)}`;
  const roles = random.shuffled(ROLES).slice(0, 1 + random.below(3));
  const chance = random.below(100);
  if (chance < 28) return { kind: 'public', pattern };
  if (chance < 46) return { kind: 'authenticated', pattern };
  if (chance < 70) return { kind: 'anyRole', roles, pattern };
  if (chance < 82) return { kind: 'allRoles', roles, pattern };
  if (chance < 90) return { kind: 'denied', pattern };
  return { kind: 'policy', name: random.of(POLICIES), pattern };
}

function randomMethods(random: Random): string {
  if (random.below(100) < 65) return '';
  const methods = random.shuffled(['GET', 'GET', 'POST', 'PUT', 'DELETE']).slice(0, 1 + random.below(2));
  return `${[...new Set(methods)].join(',')} `;
}

/** Mostly one that speaks of a route: a path that it serves, or the beginning of one. */
function randomPattern(random: Random, routes: readonly RandomRoute[]): string {
  const levels = random
    .of(random.of(routes).paths)
    .path.split('/')
    .filter((level) => level !== '');
  if (levels.length > 0 && random.below(12) === 0) levels[random.below(levels.length)] = random.of(WORDS);
  if (random.below(3) === 0) return `/${levels.join('/')}`;
  // Rather the first levels than all of them.
  const kept = Math.min(random.below(levels.length + 1), random.below(levels.length + 1));
  return `/${[...levels.slice(0, kept), random.of(['*', '**', '**'])].join('/')}`;
}

export function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
