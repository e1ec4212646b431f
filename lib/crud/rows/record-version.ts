/** The version of a record, from the entity's `@VersionColumn`: `ETag`, `If-Match` and `If-None-Match` (RFC 9110 §13.1). */
import { HttpException, HttpStatus, PreconditionFailedException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import type { OperationDeclaration } from '../declare/operations.js';
import { compare, NOTHING, type Condition, type WritePrecondition } from '../sql/condition.js';
import type { HttpRequest } from '../../http/http-request.js';

export const etagOf = (record: object, version: Field): string => `"${String(version.column.getEntityValue(record))}"`;

/** Whether `If-None-Match` names an ETag. The comparison is weak, as RFC 9110 §13.1.2 says. */
export const matchesWeakly = (header: string, etag: string): boolean =>
  isAny(header) || tagsIn(header).some((tag) => tag.replace(/^W\//, '') === etag || `"${versionIn(tag)}"` === etag);

/** The methods that evaluate `If-Match`. An override of POST may call `update` too. */
const METHODS: readonly string[] = ['PUT', 'PATCH', 'DELETE'];

/** The resource and the version of its records, where the caller may read it. */
interface Versioned {
  readonly name: string;
  readonly requireIfMatch: boolean;
  readonly version: Field | undefined;
}

export function versionPreconditions(
  request: HttpRequest | undefined,
  { name, requireIfMatch, version }: Versioned,
  id: string,
  ifMatch: OperationDeclaration['ifMatch'],
): WritePrecondition[] {
  if (!request || !ifMatch || !METHODS.includes(request.method)) return [];
  const header = request.headers['if-match'];
  const tag = ifMatch === 'any' ? '*' : 'the ETag that GET returned';
  if (header === undefined)
    return requireIfMatch ? [{ condition: NOTHING, refuse: () => required(name, id, tag) }] : [];
  if (isAny(header)) return [];
  const refuse = (): Error =>
    new PreconditionFailedException(
      `${name} with id ${id} does not match If-Match: read it again and repeat the change`,
    );
  return [{ condition: matching(ifMatch === 'any' ? undefined : version, tagsIn(header)), refuse }];
}

const required = (name: string, id: string, tag: string): Error =>
  new HttpException(`Changing ${name} with id ${id} requires If-Match: send ${tag}`, HttpStatus.PRECONDITION_REQUIRED);

function matching(version: Field | undefined, tags: readonly string[]): Condition {
  const versions = new Set<unknown>();
  for (const tag of version ? tags : []) {
    const reading = version?.type.readText(versionIn(tag));
    if (reading && 'value' in reading) versions.add(reading.value);
  }
  return version && versions.size > 0 ? compare(version, 'in', ...versions) : NOTHING;
}

/** Proxies that compress change `"3"` to `W/"3"` (nginx) or `"3-gzip"` (Apache, Caddy). Both name the version (contract 8.5). */
const TAG_OF_VERSION = /^(?:W\/)?"([\d.:TZ+-]+?)(?:(?:--?|;)gzip|-(?:br|zstd|deflate))?"$/;
const versionIn = (tag: string): string => TAG_OF_VERSION.exec(tag)?.[1] ?? tag.slice(1, -1);

const isAny = (header: string): boolean => header.trim() === '*';

const TAG = /(W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** No header contains NUL. */
const PLACE = '\0';

/** None where the list is malformed. */
function tagsIn(header: string): readonly string[] {
  const members = header.replaceAll(TAG, PLACE).split(',');
  return members.every((member) => ['', PLACE].includes(member.trim())) ? (header.match(TAG) ?? []) : [];
}
