/** The option `deprecated` of a resource, and the headers that announce it: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
import { areNames, describe } from '../options/invalid-option.js';
import { isObjectOf, isUndefinedOr, optional, type Accepts, type Refuse } from '../options/option-table.js';

/**
 * Says that clients should stop to use a resource, or some of its operations.
 * @example { since: '2026-01-31', sunset: '2026-12-31', link: 'https://shop.example/docs/version-2' }
 */
export interface Deprecation {
  /** When it begins, also in the future: a date, which begins in UTC, or a date-time with `Z` or an offset. */
  readonly since: string;
  /** When the operations stop to work; not before `since`. The package only announces it. */
  readonly sunset?: string;
  /** A page about the change: an http or https URL, or a path of this server. */
  readonly link?: string;
  /** Names of operations. @default every route of the resource that no other deprecation names */
  readonly operations?: readonly string[];
}

export interface DeprecationOptions {
  /**
   * Announces the end of the resource, or of some operations, in headers and in the OpenAPI document.
   * @default none
   * @example deprecated: { since: '2026-01-31', sunset: '2026-12-31', link: '/docs/version-2', operations: ['search'] }
   */
  deprecated?: Deprecation | readonly Deprecation[];
}

const isText: Accepts = (value) => typeof value === 'string';
const isDeprecation = isObjectOf({
  since: isText,
  sunset: isUndefinedOr(isText),
  link: isUndefinedOr(isText),
  operations: isUndefinedOr((names) => areNames(names) && (names as unknown[]).length > 0),
});

/** The row of the option `deprecated`. */
export const DEPRECATED = optional<Deprecation | readonly Deprecation[]>(
  'an object { since, sunset, link, operations }, or an array of them',
  (value) => [value].flat().every(isDeprecation),
  'give for example { since: "2026-01-31", sunset: "2026-12-31", link: "/docs/version-2" }',
);

export type Headers = readonly (readonly [name: string, value: string])[];

/** The headers of an operation, or of another method of the controller; `undefined` where it is not deprecated. */
export type DeprecationOf = (operation: string) => Headers | undefined;

/** @param known the names of the operations of the resource @throws InvalidOptionError */
export function compileDeprecations(
  option: typeof DEPRECATED.fallback,
  known: ReadonlySet<string>,
  refuse: Refuse,
): DeprecationOf {
  const byOperation = new Map<string, Headers>();
  let others: Headers | undefined;
  const expectNew = (isKnown: boolean, name: string): void => {
    const expected = 'an array that covers each operation once';
    if (isKnown) refuse('deprecated', expected, `${name} twice`, 'remove one of the two');
  };
  for (const deprecation of [option ?? []].flat()) {
    const headers = headersOf(deprecation, refuse);
    if (!deprecation.operations) {
      expectNew(others !== undefined, 'an entry without `operations`');
      others = headers;
    }
    for (const name of deprecation.operations ?? []) {
      const expected = `names of operations: ${[...known].join(', ')}`;
      if (!known.has(name)) refuse('deprecated.operations', expected, describe(name), 'correct or remove the name');
      expectNew(byOperation.has(name), describe(name));
      byOperation.set(name, headers);
    }
  }
  return (operation) => byOperation.get(operation) ?? others;
}

function headersOf({ since, sunset, link }: Deprecation, refuse: Refuse): Headers {
  const begin = momentOf('since', since, refuse);
  const end = sunset === undefined ? undefined : momentOf('sunset', sunset, refuse);
  if (end !== undefined && end < begin)
    refuse('deprecated.sunset', `a date from \`since\` on (${since})`, describe(sunset), 'correct one of the two');
  if (link !== undefined && !(LINK.test(link) && URL.canParse(link, 'https://shop.example')))
    refuse(
      'deprecated.link',
      'an http or https URL, or a path that begins with "/"',
      describe(link),
      'give for example "https://shop.example/docs/version-2", and escape spaces and letters outside ASCII',
    );
  const relations = ['deprecation', ...(end === undefined ? [] : ['sunset'])];
  return [
    // A date of structured fields (RFC 9651 §3.3.7): seconds since 1970.
    ['Deprecation', `@${Math.floor(begin / 1000)}`],
    ...(end === undefined ? [] : [['Sunset', new Date(end).toUTCString()] as const]),
    ...(link === undefined ? [] : [['Link', relations.map((name) => `<${link}>; rel="${name}"`).join(', ')] as const]),
  ];
}

/** What a header may have between `<` and `>` (RFC 3986). */
const LINK = /^(https?:\/\/|\/)[\w.~!$&'()*+,;=:@%/?#[\]-]*$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds since 1970. */
function momentOf(name: 'since' | 'sunset', text: string, refuse: Refuse): number {
  const [, day] = MOMENT.exec(text) ?? [];
  // `Date` alone would turn 30 February into 2 March.
  const isDay = day !== undefined && String(new Date(day).toJSON()).startsWith(day);
  const moment = isDay ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(moment)) return moment;
  const expected = 'a date such as "2026-01-31", or a date-time such as "2026-01-31T09:30:00Z"';
  return refuse(`deprecated.${name}`, expected, describe(text), 'correct it');
}
