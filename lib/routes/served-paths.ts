import { TextCache } from '../http/text-cache.js';
import type { Route } from './route.js';

/** How many paths are kept; each has 1,024 letters at most. */
const MOST_PATHS = 1_000;

/** Whether a route of any method answers at a path; kept of those asked for last, as pages ask before many a request. */
export class ServedPaths {
  private known = new TextCache<boolean>(MOST_PATHS);
  private methods: string[] = [];
  private count = 0;

  constructor(
    private readonly routes: readonly Pick<Route, 'method'>[],
    private readonly hasRouteFor: (method: string, path: string) => boolean,
  ) {}

  has(path: string): boolean {
    // On Express one may be added at any time.
    if (this.count !== this.routes.length) this.renew();
    let served = this.known.get(path);
    if (served === undefined) {
      served = this.methods.some((method) => this.hasRouteFor(method, path));
      this.known.set(path, served);
    }
    return served;
  }

  private renew(): void {
    this.known = new TextCache(MOST_PATHS);
    this.methods = [...new Set(this.routes.map(({ method }) => (method === 'ALL' ? 'GET' : method)))];
    this.count = this.routes.length;
  }
}
