/** The options of a resource that add headers to its responses. */
import { Header } from '@nestjs/common';
import type { HeaderDocuments } from '../documents/operation-document.js';
import { QUERY_METHOD, type QueryMethodOptions } from '../query-method/query-option.js';
import { flag, type OptionsOf, type Refuse } from '../options/option-table.js';
import { describeHeaders } from './header-documents.js';
import { compileDeprecations, DEPRECATED, type DeprecationOptions } from './deprecation.js';
import { addPageLinks, type PageLinkOptions } from './page-links.js';

export interface HeaderOptions extends DeprecationOptions, PageLinkOptions, QueryMethodOptions {}

export const HEADER_OPTIONS = { deprecated: DEPRECATED, enablePageLinks: flag(), enableQueryMethod: QUERY_METHOD };

const LISTS = ['findAll', 'search'];

export interface ResponseHeaders {
  /** The names of those that scripts of another origin may read. */
  readonly exposed: readonly string[];
  isDeprecated(operation: string): boolean;
  /** What an OpenAPI document says of the headers. */
  describe(operation: string): HeaderDocuments;
  /**
   * Nest sets the headers behind the guards, so that answers 400, 404 and 409 have them too. Must be called once for each
   * method, before Nest registers its route.
   * @param operation its name, or that of another method of the controller
   */
  addTo(method: object, operation: string): void;
}

/** @param known the names of the operations of the resource @throws InvalidOptionError */
export function compileHeaders(
  options: OptionsOf<typeof HEADER_OPTIONS>,
  known: ReadonlySet<string>,
  refuse: Refuse,
): ResponseHeaders {
  if (options.enableQueryMethod && !known.has('findAll'))
    refuse(
      'enableQueryMethod',
      'used with findAll in `operations`',
      '`operations` without it',
      'remove it, or add findAll',
    );
  const deprecationOf = compileDeprecations(options.deprecated, known, refuse);
  return Object.freeze({
    exposed: [
      ...(options.deprecated ? ['Deprecation', 'Sunset'] : []),
      ...(options.deprecated || options.enablePageLinks ? ['Link'] : []),
      ...(options.enableQueryMethod ? ['Accept-Query'] : []),
    ],
    isDeprecated: (operation: string) => deprecationOf(operation) !== undefined,
    describe: (operation: string) =>
      describeHeaders(new Set(deprecationOf(operation)?.map(([name]) => name)), {
        isPage: options.enablePageLinks && LISTS.includes(operation),
        takesQuery: options.enableQueryMethod && operation === 'findAll',
      }),
    addTo(method: object, operation: string) {
      for (const [name, value] of deprecationOf(operation) ?? []) Header(name, value)({}, '', { value: method });
      if (options.enablePageLinks && LISTS.includes(operation)) addPageLinks(method);
    },
  });
}

/** Of an entity that no resource serves. */
export const NO_HEADERS: ResponseHeaders = Object.freeze({
  exposed: [],
  isDeprecated: () => false,
  describe: () => ({}),
  addTo() {},
});
