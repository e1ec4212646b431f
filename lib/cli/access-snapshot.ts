/** The access table as a file: of routes, and of what callers reach of generated resources. */
import { readFileSync } from 'node:fs';
import type { AccessRow } from '../access/access-rows.js';
import { mapValues } from '../documents/describe-controller.js';
import { parseJson } from '../http/json-body.js';
import { isObject, isObjectOf, type Accepts } from '../options/option-table.js';
import type { RowsByCaller } from '../reach/callers.js';
import type { Reach, ResourceReach } from '../reach/reach.js';
import type { Rows } from '../reach/rows.js';
import { CommandError, reasonOf } from './command-error.js';

export interface AccessTable extends Reach {
  readonly routes: readonly AccessRow[];
}

const NAMES = ['method', 'path', 'template', 'access', 'requirements', 'rules'] as const;

/** Rows that are the same for all callers are written once. */
export function writeSnapshot({ routes, callers, resources, code }: AccessTable): string {
  const named = routes.map((row) => Object.fromEntries(NAMES.map((name) => [name, row[name]])));
  const compact = resources.map((each) => mapRows(each, (rows) => (isSame(rows) ? rows[callers[0] as string] : rows)));
  return `${JSON.stringify({ routes: named, callers, resources: compact, code }, undefined, 2)}\n`;
}

const isSame = (rows: RowsByCaller): boolean =>
  new Set(Object.values(rows).map((each) => JSON.stringify(each))).size === 1;

const mapRows = (resource: ResourceReach, change: (rows: RowsByCaller) => unknown): object => ({
  ...resource,
  rows: mapValues(resource.rows, change),
  related: mapValues(resource.related, (each) => ({ ...each, rows: change(each.rows) })),
});

/** `undefined` if there is no file. @throws CommandError for other content, so that `--update` never overwrites it */
export function readSnapshot(file: string): AccessTable | undefined {
  const name = JSON.stringify(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${name} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
  const table = parseJson(text) as Partial<AccessTable> | null | undefined;
  const reason = problemOf(table);
  if (reason !== undefined)
    throw new CommandError(
      `${name} is not an access snapshot: ${reason}. Give another file, or delete this one and write it with --update.`,
    );
  const { callers, resources, routes, code } = table as AccessTable;
  const expand = (rows: RowsByCaller | Rows): RowsByCaller =>
    typeof rows === 'string' || Array.isArray(rows)
      ? Object.fromEntries(callers.map((caller) => [caller, rows as Rows]))
      : (rows as RowsByCaller);
  return { routes, callers, resources: resources.map((each) => mapRows(each, expand) as ResourceReach), code };
}

function problemOf(table: Partial<AccessTable> | null | undefined): string | undefined {
  const { routes, callers, resources, code } = table ?? {};
  if (!Array.isArray(routes) || !areNames(callers) || !Array.isArray(resources) || !isMapOf(isText)(code))
    return 'it is not an object of routes, callers, resources and code';
  const row = routes.findIndex((each: Partial<AccessRow> | null) => !isRow(each));
  if (row >= 0) return `route ${row + 1} is not an object of ${NAMES.join(', ')}`;
  const resource = resources.findIndex((each: unknown) => !isResource(each));
  return resource < 0
    ? undefined
    : `resource ${resource + 1} is not an object of entity, endpoint, rows, effects, fields, deleted, related`;
}

const isRow = (row: Partial<AccessRow> | null): boolean =>
  NAMES.every((name) =>
    name === 'requirements' || name === 'rules' ? Array.isArray(row?.[name]) : typeof row?.[name] === 'string',
  );

const isText: Accepts = (value) => typeof value === 'string';
const isListOf =
  (isItem: Accepts): Accepts =>
  (value) =>
    Array.isArray(value) && value.every(isItem);
const isMapOf =
  (isValue: Accepts): Accepts =>
  (value) =>
    isObject(value) && Object.values(value).every(isValue);
const areNames = isListOf(isText);
const areCallers: Accepts = (value) => value === 'all' || value === 'none' || areNames(value);
const areRows: Accepts = (value) => value === 'all' || value === 'none' || isListOf(areNames)(value);
const areRowsByCaller: Accepts = (value) => areRows(value) || isMapOf(areRows)(value);

const isResource = isObjectOf({
  entity: isText,
  endpoint: isText,
  rows: isMapOf(areRowsByCaller),
  effects: isMapOf(isText),
  fields: isMapOf(isObjectOf({ read: areCallers, create: areCallers, update: areCallers })),
  deleted: areCallers,
  related: isMapOf(
    isObjectOf({
      entity: isText,
      rows: areRowsByCaller,
      fields: isMapOf(isObjectOf({ read: areCallers, filter: areCallers })),
      link: areCallers,
    }),
  ),
});
