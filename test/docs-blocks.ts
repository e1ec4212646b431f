import { join } from 'node:path';

/** A Markdown file of the repository. */
export interface Page {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  readonly page: Page;
  readonly language: string;
  readonly text: string;
  /** For test titles: `docs/tasks/cors-and-proxies.md:12`. */
  readonly title: string;
  /** The path at which a `ts` block is compiled. */
  readonly file: string;
}

export interface Exchange {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

const FOLDER = 'docs-blocks';
const FENCE = /^(?<indent> *)```(?<language>[^\n]*)\n(?<text>[^]*?)^ *```$/gm;

export function blocksOf(page: Page): Block[] {
  return [...page.text.matchAll(FENCE)].map(({ index, groups = {} }) => {
    const { indent = '', language = '', text = '' } = groups;
    const line = page.text.slice(0, index).split('\n').length;
    return {
      page,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      title: `${page.path}:${line}`,
      file: join(FOLDER, `${page.path.replaceAll(/\W/g, '-')}-${line}.ts`),
    };
  });
}

export const withoutBlocks = ({ text }: Page): string => text.replaceAll(FENCE, '');

/** The anchors of a page, as hosts of repositories build them from its headings. */
export function anchorsOf(page: Page): string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The targets of a page's links, except those to other sites. */
export function linksOf(page: Page): string[] {
  return [...withoutBlocks(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target);
}

/** The modules that blocks import from files next to them. */
export const NEIGHBOURS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'app.module': `
      import { AppModule as Shop } from '../sample-app/app.module.js';
      import { readConfig } from '../sample-app/config.js';
      export const AppModule = Shop.with(readConfig({ DATABASE: ':memory:', ADMIN_PASSWORD: 'the boss of the shop' }));`,
    category: `export { Category } from '../sample-app/category.js';`,
    order: `export { Order } from '../sample-app/order.js';`,
    product: `export { Product } from '../sample-app/product.js';`,
    user: `export { User } from '../sample-app/user.js';`,
    entities: `
      export { Product } from '../sample-app/product.js';
      export { User } from '../sample-app/user.js';`,
    'products.controller': `export { ProductsController } from '../sample-app/products.controller.js';`,
    'data-source': `
      import type { DataSourceOptions } from 'typeorm';
      export const databaseOptions: DataSourceOptions = { type: 'better-sqlite3', database: ':memory:' };`,
    'error-tracker': `export const errorTracker = { captureException: (_error: unknown, _context: object) => undefined };`,
    prices: `
      import type { CallHandler, NestInterceptor } from '@nestjs/common';
      export class CacheHeaders implements NestInterceptor {
        intercept(_: unknown, next: CallHandler) { return next.handle(); }
      }
      export class Prices {
        async historyOf(id: string): Promise<number[]> { return [id.length]; }
      }`,
  }).map(([name, text]) => [join(FOLDER, `${name}.ts`), text]),
);

/** A request and its response: each has a first line, headers, and a body after an empty line. */
export function exchangeOf(text: string): Exchange {
  const [request = '', response = ''] = text.split(/^(?=HTTP\/1\.1 )/m);
  const [sent, received] = [partsOf(request), partsOf(response)];
  const [method = '', path = ''] = sent.first.split(' ');
  return {
    request: { method, path, headers: sent.headers, body: sent.body },
    response: { status: Number(received.first.split(' ')[1]), headers: received.headers, body: received.body },
  };
}

function partsOf(text: string): { first: string; headers: Record<string, string>; body: string } {
  const [head = '', ...body] = text.trim().split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')] as const;
  });
  return { first, headers: Object.fromEntries(headers), body: body.join('\n\n') };
}

/** The body without the values that differ in every run, if they have the expected form. */
export function masked(body: unknown): unknown {
  const forms: Record<string, RegExp> = { timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/, token: /^eyJ/ };
  return JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    typeof value === 'string' && forms[key]?.test(value) ? key : value,
  );
}
