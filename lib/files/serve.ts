/** Serves documents and folders on routes outside of Nest, which access rules govern as those of Swagger UI. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { pathOf, type HttpRequest } from '../http/http-request.js';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { contentOf, sendContent, type Content, type Response } from './content.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const KEPT_FOR_A_YEAR = 'private, max-age=31536000, immutable';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': JSON_TYPE,
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/**
 * Serves JSON documents with an ETag and gzip. They are the same for every request: they are made once, when the server
 * begins to listen, where an error ends the process, or by an earlier request. Access rules apply to their paths.
 * @param documents functions by their paths, which get no global prefix
 * @throws InvalidOptionError for a path that is not like `/docs-json`
 * @example serveDocuments(app, { '/docs-json': () => addAccess(SwaggerModule.createDocument(app, config), app) });
 */
export function serveDocuments(app: INestApplication, documents: Readonly<Record<string, () => object>>): void {
  for (const [path, make] of Object.entries(documents)) {
    expectPath('A path of serveDocuments()', path);
    const content = makeOnce(app, () => contentOf(JSON_TYPE, Buffer.from(JSON.stringify(make()))));
    app
      .getHttpAdapter()
      .get(path, ((request: HttpRequest, response: Response) => sendContent(request, response, content())) as never);
  }
}

/** Fastify's reply sends its 404 by itself. */
interface FolderResponse extends Response {
  callNotFound?(): unknown;
}

/**
 * Serves the files of a folder with an ETag and gzip: those that it has now, from memory. `index.html` is at the path
 * itself, with a slash at its end. On Express, call it after `serveDocuments` with paths in the folder.
 * @param path of the folder, which gets no global prefix
 * @param immutable the folder in it whose files have other names when they change: clients keep them for a year
 * @throws InvalidOptionError for a path that is not like `/admin`
 * @throws Error for a folder that cannot be read
 * @example serveFolder(app, '/app', join(import.meta.dirname, '../front-end/dist'), 'assets');
 */
export function serveFolder(app: INestApplication, path: string, folder: string, immutable = ''): void {
  expectPath('The path of serveFolder()', path);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Map(
    entries.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      const address = relative(folder, file).split(sep).join('/');
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      const caching = address.startsWith(`${immutable}/`) ? KEPT_FOR_A_YEAR : undefined;
      const content = makeOnce(app, () => contentOf(type, readFileSync(file), caching));
      return [address, content];
    }),
  );
  const serve = (request: HttpRequest, response: FolderResponse, next?: () => void): void => {
    // Express has an array of levels, and Fastify a text.
    const name = Object.values(request.params ?? {})
      .flat()
      .join('/');
    const content = files.get(name || 'index.html');
    if (!content) {
      if (response.callNotFound) response.callNotFound();
      else next?.();
    } else if (name === '' && !pathOf(request).endsWith('/')) {
      // Relative addresses in the page need the slash.
      response.header('Location', `${path.slice(path.lastIndexOf('/') + 1)}/`);
      response.status(301);
      response.send();
    } else sendContent(request, response, content());
  };
  const adapter = app.getHttpAdapter();
  const templates = adapter.getType() === 'fastify' ? [path, `${path}/*`] : [`${path}{/*rest}`];
  for (const template of templates) adapter.get(template, serve as never);
}

function expectPath(name: string, path: string): void {
  if (!/^(\/[\w.~-]+)+$/.test(path))
    throw new InvalidOptionError(name, 'a path such as "/docs-json"', describe(path), 'Begin it with a slash');
}

/** Before the server listens, `addAccess` has no rules. */
function makeOnce(app: INestApplication, make: () => Content): () => Content {
  let made: Content | undefined;
  const content = (): Content => (made ??= make());
  app.get(HttpAdapterHost).listen$.subscribe(content);
  return content;
}
