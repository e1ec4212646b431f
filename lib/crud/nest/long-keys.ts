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
  const parameters = resources.flatMap(({ schema, options, pathParameters }) => {
    const fields = [...schema.key.fields];
    const isRead = options.knownOperations.some(
      ({ name, route }) => options.generated.has(name) && route.path.includes(':id'),
    );
    const key = { name: `${schema.name}.${fields.map(({ name }) => name).join()}`, fields: isRead ? fields : [] };
    return [
      key,
      ...[...pathParameters].map(([name, field]) => ({ name: `:${name} of ${options.endpoint}`, fields: [field] })),
    ];
  });
  const lengths = parameters.map(({ name, fields }) => {
    const commas = Math.max(0, fields.length - 1);
    return { name, length: fields.reduce((sum, field) => sum + longestText(field), commas) };
  });
  const long = lengths.filter(({ length }) => length > limit);
  if (long.length === 0) return [];
  const names = long.map(({ name, length }) => `${name} (${length === Infinity ? 'no limit' : length})`);
  const needed = Math.max(ADVISED, ...long.map(({ length }) => (length === Infinity ? 0 : length)));
  return [
    `Keys that may have more than ${limit} characters, which the router of Fastify refuses (414): ${names.join(', ')}. Shorten the columns, or use new FastifyAdapter({ routerOptions: { maxParamLength: ${needed} } }).`,
  ];
}
