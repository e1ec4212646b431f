/** Which routes Express's router will ask for a path, as it compiles their templates itself. */
import { match, type MatchFunction, type MatchOptions } from 'path-to-regexp';
import { PrefixIndex } from './prefix-index.js';
import type { Route, ServedRoute } from './route.js';
import type { RouterReading } from './router-reading.js';

export class ExpressMatching {
  private readonly matchers = new Map<string, MatchFunction<object>>();
  private index = new PrefixIndex<Route>([], matchingOf);

  constructor(
    private readonly routes: readonly Route[],
    private readonly reading: () => RouterReading,
  ) {}

  /** In order of registration. */
  matching(path: string): Route[] {
    if (!this.index.describes(this.routes)) this.index = new PrefixIndex(this.routes, matchingOf);
    const candidates = this.index.candidates(path).map((place) => this.routes[place] as Route);
    return candidates.filter((route) => this.matcherOf(route)(path) !== false);
  }

  /** As the handler of a route that matches will see them, decoded. */
  paramsOf({ path: template }: Route, path: string): ServedRoute['params'] {
    const found = match(template, this.options(decodeURIComponent))(path);
    return found ? (found.params as ServedRoute['params']) : {};
  }

  private matcherOf({ path }: Route): MatchFunction<object> {
    let matcher = this.matchers.get(path);
    if (!matcher) this.matchers.set(path, (matcher = match(path, this.options(false))));
    return matcher;
  }

  private options(decode: NonNullable<MatchOptions['decode']>): MatchOptions {
    const { caseSensitive, ignoreTrailingSlash } = this.reading();
    return { sensitive: caseSensitive, trailing: ignoreTrailingSlash, decode };
  }
}

const matchingOf = ({ path }: Route): { path: string; isRoute: boolean } => ({ path, isRoute: true });
