/** Describes the headers that options of a resource add to the answers of an operation. */
import { textHeader, type HeaderDocuments } from '../documents/operation-document.js';

const DEPRECATION = textHeader('Deprecation', 'Since when it is deprecated (RFC 9745): `@1769817600`.');
const SUNSET = textHeader('Sunset', 'When it ends, as an HTTP date (RFC 8594).');
const DEPRECATION_LINK = textHeader('Link', 'A page about the deprecation (RFC 8288).');
const PAGE_LINK = textHeader('Link', 'The pages `first`, `prev`, `next` and `last`, where they exist (RFC 8288).');
const BOTH_LINKS = textHeader(
  'Link',
  'The pages `first`, `prev`, `next` and `last`, and a page about the deprecation.',
);
const ACCEPT_QUERY = textHeader('Accept-Query', 'The media types in which QUERY takes these parameters (RFC 10008).');

/** @param deprecation the names of the headers that announce it */
export function describeHeaders(
  deprecation: ReadonlySet<string>,
  { isPage, takesQuery }: { readonly isPage: boolean; readonly takesQuery: boolean },
): HeaderDocuments {
  const isLinked = deprecation.has('Link');
  return {
    ...(deprecation.has('Deprecation') && DEPRECATION),
    ...(deprecation.has('Sunset') && SUNSET),
    ...(isPage ? (isLinked ? BOTH_LINKS : PAGE_LINK) : isLinked && DEPRECATION_LINK),
    ...(takesQuery && ACCEPT_QUERY),
  };
}
