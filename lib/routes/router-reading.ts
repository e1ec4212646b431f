import type { HttpAdapterHost } from '@nestjs/core';

type Adapter = HttpAdapterHost['httpAdapter'];

/** How the platform's router compares paths. */
export interface RouterReading {
  readonly caseSensitive: boolean;
  readonly ignoreTrailingSlash: boolean;
}

interface Fastify {
  readonly initialConfig: Partial<RouterReading>;
}
interface Express {
  readonly router: { readonly caseSensitive?: boolean; readonly strict?: boolean };
}

export function readingOf(adapter: Adapter & { getRouteMatchingOptions?: () => RouterReading }): RouterReading {
  if (adapter.getRouteMatchingOptions) return adapter.getRouteMatchingOptions();
  // Nest 11 does not have that method.
  if (adapter.getType() === 'fastify') {
    const { caseSensitive = true, ignoreTrailingSlash = false } = adapter.getInstance<Fastify>().initialConfig;
    return { caseSensitive, ignoreTrailingSlash };
  }
  const { caseSensitive = false, strict = false } = adapter.getInstance<Express>().router;
  return { caseSensitive, ignoreTrailingSlash: !strict };
}
