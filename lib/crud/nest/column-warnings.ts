/** Finds columns that a platform or a database treats otherwise than the entity says: long keys, and moments without a zone. */
import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { isMysql, isPostgres } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import type { RouteTable } from '../../routes/route-table.js';
import type { Resource } from '../plan/resource.js';

const WITHOUT_ZONE = /^(timestamp without time zone|datetime|timestamp)$/;

interface Zoned {
  readonly name: string;
  readonly column: ColumnMetadata;
}

/** Sentences for the log: at most two for each data source. */
export async function zoneWarnings(resources: readonly Resource[]): Promise<string[]> {
  const warnings: string[] = [];
  for (const dataSource of new Set(resources.map(({ database }) => database.dataSource))) {
    if (!isPostgres(dataSource) && !isMysql(dataSource)) continue;
    const own = resources.filter(({ database }) => database.dataSource === dataSource);
    const columns = zonelessColumns(own, dataSource);
    if (columns.length > 0) warnings.push(...(await warningsOf(columns, dataSource)));
  }
  return warnings;
}

function zonelessColumns(resources: readonly Resource[], { driver }: DataSource): Zoned[] {
  const columns = resources.flatMap(({ schema }) =>
    schema.fields.map(({ name, column }) => ({ name: `${schema.name}.${name}`, column })),
  );
  const found = columns.filter(({ column }) => WITHOUT_ZONE.test(driver.normalizeType(column)));
  return [...new Map(found.map((each) => [each.name, each])).values()];
}

async function warningsOf(columns: readonly Zoned[], dataSource: DataSource): Promise<string[]> {
  const days = daysOfYear(new Date().getFullYear());
  const mine = offsets(days, processTimes(days, dataSource));
  const theirs = offsets(days, await databaseTimes(days, dataSource));
  const advice = isPostgres(dataSource)
    ? 'Set TZ=UTC for the process, or give the columns the type "timestamptz"'
    : 'Set `timezone: "Z"` in the options of TypeORM, and `time_zone` of the server to "+00:00"';
  const warnings: string[] = [];
  if (new Set(mine).size > 1) {
    const problem = `Moments without a time zone: ${namesOf(columns)}. The zone of the process repeats an hour each year, and moments of that hour are stored as those of the other one`;
    warnings.push(`${problem}. ${advice}.`);
  }
  const filled = columns.filter(({ column }) => column.isCreateDate || column.isUpdateDate || column.isDeleteDate);
  const month = new Date().getMonth();
  if (filled.length > 0 && String(mine) !== String(theirs)) {
    const zones = `The zone of the database is ${zoneOf(theirs[month])}, that of the process is ${zoneOf(mine[month])}`;
    const difference = theirs[month] === mine[month] ? `${zones}, and they differ in other months` : zones;
    warnings.push(`Moments that the database sets, hours off: ${namesOf(filled)}. ${difference}. ${advice}.`);
  }
  return warnings;
}

const namesOf = (columns: readonly Zoned[]): string => columns.map(({ name }) => name).join(', ');

/** A day of each month, without a zone. */
const daysOfYear = (year: number): string[] =>
  Array.from({ length: 12 }, (_, month) => `${year}-${String(month + 1).padStart(2, '0')}-15T00:00:00`);

/** In milliseconds, as the driver reads these texts. mysql2 reads them in the zone of its option. */
function processTimes(days: readonly string[], dataSource: DataSource): number[] {
  const { timezone = 'local' } = dataSource.options as { timezone?: string };
  return days.map((day) => Date.parse(timezone === 'local' || isPostgres(dataSource) ? day : day + timezone));
}

async function databaseTimes(days: readonly string[], dataSource: DataSource): Promise<number[]> {
  const seconds = (day: string): string =>
    isPostgres(dataSource) ? `EXTRACT(EPOCH FROM CAST('${day}' AS timestamptz))` : `UNIX_TIMESTAMP('${day}')`;
  const columns = days.map((day, month) => `${seconds(day)} AS m${month}`);
  const [row = {}] = await dataSource.query<Record<string, unknown>[]>(`SELECT ${columns.join(', ')}`);
  return days.map((_, month) => Number(row[`m${month}`]) * 1000);
}

/** In minutes, east of Greenwich. */
const offsets = (days: readonly string[], times: readonly number[]): number[] =>
  days.map((day, month) => (Date.parse(`${day}Z`) - (times[month] ?? 0)) / 60_000);

function zoneOf(minutes = 0): string {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

const UUID_LENGTH = 36;
/** Longer than a moment and a number of 64 bits. */
const OTHER_LENGTH = 40;
const ADVISED = 500;

/** The most characters of a value in a path. The router counts them decoded. */
function longestText({ type: { comparison, schemas } }: Field): number {
  const { maxLength = Infinity, enum: labels } = schemas.answer as { maxLength?: number; enum?: readonly unknown[] };
  if (labels) return Math.max(...labels.map((label) => String(label).length));
  if (comparison === 'text' || comparison === 'opaque') return maxLength;
  return comparison === 'uuid' ? UUID_LENGTH : OTHER_LENGTH;
}

export function longKeyWarnings(resources: readonly Resource[], { maxParameterLength: limit }: RouteTable): string[] {
  const parameters = resources.flatMap(({ schema: { name, key }, options, pathParameters }) => {
    const { knownOperations, generated, endpoint } = options;
    const isRead = knownOperations.some((each) => generated.has(each.name) && each.route.path.includes(':id'));
    const own = { name: `${name}.${key.fields.map((field) => field.name).join()}`, fields: isRead ? key.fields : [] };
    const outer = [...pathParameters].map(([each, field]) => ({ name: `:${each} of ${endpoint}`, fields: [field] }));
    return [own, ...outer];
  });
  const long = parameters.flatMap(({ name, fields }) => {
    const length = fields.reduce((sum, field) => sum + longestText(field) + 1, -1);
    return length > limit ? [{ length, text: `${name} (${length === Infinity ? 'no limit' : length})` }] : [];
  });
  if (long.length === 0) return [];
  const needed = Math.max(ADVISED, ...long.map(({ length }) => (length === Infinity ? 0 : length)));
  const names = long.map(({ text }) => text).join(', ');
  return [
    `Keys that may have more than ${limit} characters, which the router of Fastify refuses (414): ${names}. Shorten the columns, or use new FastifyAdapter({ routerOptions: { maxParamLength: ${needed} } }).`,
  ];
}
