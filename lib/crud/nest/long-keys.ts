/** Finds keys that the router refuses: such a record would be stored and listed, but could not be read, changed or deleted. */
import type { Field } from '../../entities/entity-schema.js';
import type { RouteTable } from '../../routes/route-table.js';
import type { Resource } from '../plan/resource.js';

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

export function longKeyWarnings(
  resources: readonly Resource<object>[],
  { maxParameterLength: limit }: RouteTable,
): string[] {
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
