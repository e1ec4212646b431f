/** The options of a resource that add headers to its responses. */
import { Header } from '@nestjs/common';
import { flag, type OptionsOf, type Refuse } from '../options/option-table.js';
import { compileDeprecations, DEPRECATED, type DeprecationOptions } from './deprecation.js';
import { addPageLinks, type PageLinkOptions } from './page-links.js';

export interface HeaderOptions extends DeprecationOptions, PageLinkOptions {}

export const HEADER_OPTIONS = { deprecated: DEPRECATED, enablePageLinks: flag() };

const LISTS = ['findAll', 'search'];

export interface ResponseHeaders {
  /** The names of those that scripts of another origin may read. */
  readonly exposed: readonly string[];
  isDeprecated(operation: string): boolean;
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
  const deprecationOf = compileDeprecations(options.deprecated, known, refuse);
  return Object.freeze({
    exposed: [
      ...(options.deprecated ? ['Deprecation', 'Sunset'] : []),
      ...(options.deprecated || options.enablePageLinks ? ['Link'] : []),
    ],
    isDeprecated: (operation: string) => deprecationOf(operation) !== undefined,
    addTo(method: object, operation: string) {
      for (const [name, value] of deprecationOf(operation) ?? []) Header(name, value)({}, '', { value: method });
      if (options.enablePageLinks && LISTS.includes(operation)) addPageLinks(method);
    },
  });
}

/** Of an entity that no resource serves. */
export const NO_HEADERS: ResponseHeaders = Object.freeze({ exposed: [], isDeprecated: () => false, addTo() {} });
