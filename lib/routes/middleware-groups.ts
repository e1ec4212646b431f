/**
 * The package's own middleware with the paths it is bound to on Fastify, in the order of binding. Which of them a request
 * is for, Nest's matchers tell by its target; where its route tells it, or the same target was asked for before, they are
 * not asked again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TextCache } from '../http/text-cache.js';
import { isPlainTarget, matchesRoute } from './bound-path.js';
import type { DirectMiddleware } from './direct-middleware.js';

/** Node's request as middie hands it to middleware. */
export type RawRequest = IncomingMessage & { method: string; url: string; originalUrl: string };
/** As Nest gives it to middie: it calls Nest's handler where the path matches, and otherwise goes on. */
export type Matcher = (request: RawRequest, response: ServerResponse, next: () => void) => void;

/** Bound one after the other. */
interface Group {
  readonly middleware: DirectMiddleware;
  readonly paths: string[];
  readonly matchers: Matcher[];
}

/** Of each group, whether a request is for it; `undefined` where the matchers have to be asked. */
export type Matched = readonly (boolean | undefined)[];

/** How many targets are kept; each has 1,024 letters at most. */
const MOST_TARGETS = 1_000;

export class MiddlewareGroups {
  private readonly groups: Group[] = [];
  private hasMatched = false;
  /** Of targets without a route: those of preflights, which pages send again and again. */
  private readonly byTarget = new TextCache<Matched>(MOST_TARGETS);

  get isEmpty(): boolean {
    return this.groups.length === 0;
  }

  add(middleware: DirectMiddleware, path: string, matcher: Matcher): void {
    let group = this.groups.at(-1);
    if (group?.middleware !== middleware) this.groups.push((group = { middleware, paths: [], matchers: [] }));
    group.paths.push(path);
    group.matchers.push(matcher);
  }

  /** What a matcher calls in the place of Nest's handler. */
  match(): void {
    this.hasMatched = true;
  }

  /** Whether a matcher works where it is, and without waiting for anything. */
  answersAtOnce(matcher: Matcher): boolean {
    let goesOn = false;
    this.hasMatched = false;
    matcher({ url: '/', originalUrl: '/' } as RawRequest, {} as ServerResponse, () => {
      goesOn = true;
    });
    return goesOn !== this.hasMatched;
  }

  /** Of any plain target that the router has brought to this route. */
  matchedAtRoute(route: string): Matched {
    return this.groups.map(({ paths }) => matchesRoute(paths, route));
  }

  /**
   * Runs those that a request is for.
   *
   * @param atRoute what its route tells, where it has one
   * @returns whether the request goes on
   */
  run(
    request: RawRequest,
    response: ServerResponse,
    atRoute: Matched | undefined,
    passes: (middleware: DirectMiddleware) => boolean,
  ): boolean {
    const matched = this.matched(request, response, atRoute);
    return this.groups.every(
      ({ middleware, matchers }, place) =>
        !(matched[place] ?? this.isMatched(matchers, request, response)) || passes(middleware),
    );
  }

  private matched(request: RawRequest, response: ServerResponse, atRoute: Matched | undefined): Matched {
    if (atRoute) return isPlainTarget(request.url) ? atRoute : [];
    const target = request.url;
    let matched = this.byTarget.get(target);
    if (!matched) {
      matched = this.groups.map(({ matchers }) => this.isMatched(matchers, request, response));
      this.byTarget.set(target, matched);
    }
    return matched;
  }

  private isMatched(matchers: readonly Matcher[], request: RawRequest, response: ServerResponse): boolean {
    this.hasMatched = false;
    for (const matcher of matchers) {
      matcher(request, response, goOn);
      if (this.hasMatched) break;
    }
    // Where Nest matches instead of middie it cuts the path off, as middie does.
    request.url = request.originalUrl;
    return this.hasMatched;
  }
}

const goOn = (): void => {};
