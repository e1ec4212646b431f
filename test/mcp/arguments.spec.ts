/** The arguments and results of tools, by caller: for each caller of the clinic, over all of its tools. */
import type { Tool } from '@modelcontextprotocol/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { as } from '../../lib/testing/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { CALLERS, type Clinic, startClinic } from './clinic.js';

type Schema = Readonly<Record<string, any>>;

interface Permitted {
  readonly path: string;
  readonly operations: readonly string[];
  readonly read: readonly string[];
  readonly create: readonly string[];
  readonly update: readonly string[];
  readonly filter: readonly string[];
  readonly sort: readonly string[];
  readonly include: readonly string[];
}

type Call = readonly [argument: string, args: Schema];

vi.setConfig({ testTimeout: 120_000 });

const titleOf = (caller: (typeof CALLERS)[number]): string => caller?.roles[0] ?? 'nobody';

/** Follows a reference. */
const resolved = (schema: Schema, { $defs = {} }: Schema): Schema =>
  schema['$ref'] ? $defs[schema['$ref'].slice('#/$defs/'.length)] : schema;

/** A value that a schema allows. */
function valueOf(given: Schema, root: Schema): unknown {
  const { type, enum: values, anyOf, items, format, examples } = resolved(given, root);
  if (values ?? examples) return (values ?? examples)[0];
  if (anyOf) return valueOf(anyOf[0], root);
  if (type === 'array') return [valueOf(items, root), ...(given['minItems'] === 2 ? [valueOf(items, root)] : [])];
  if (type === 'object') return {};
  return { integer: 1, number: 1, boolean: true }[type as string] ?? (format === 'date-time' ? '2026-01-31' : '1');
}

/** Each value of a list of names, and one value of everything else. */
function valuesOf(schema: Schema, root: Schema): unknown[] {
  const names = resolved(schema['items'] ?? {}, root)['enum'] as readonly string[] | undefined;
  return names ? names.map((name) => [name]) : [valueOf(schema, root)];
}

const propertiesOf = ({ inputSchema }: Tool, body?: 'body'): Record<string, Schema> => {
  const { properties = {} } = inputSchema as Schema;
  return body ? (properties['body'] ? resolved(properties['body'], inputSchema)['properties'] : {}) : properties;
};

const enumOf = (tool: Tool, name: string): readonly string[] => propertiesOf(tool)[name]?.['items'].enum ?? [];

/** The members of a body, with those of relations as `guestsIds`. */
const namesOf = (tools: readonly Tool[], name: string): string[] =>
  tools.filter((tool) => tool.name === name).flatMap((tool) => Object.keys(propertiesOf(tool, 'body')));

describe.each(PLATFORMS)('on %s', (platform) => {
  let clinic: Clinic;
  beforeAll(async () => {
    clinic = await startClinic(platform, { include: ['exports', 'purge'] });
  });
  afterAll(() => clinic.close());

  describe.each(CALLERS.map((caller) => [titleOf(caller), caller] as const))('for %s', (_title, caller) => {
    it('are the fields that the access endpoint names', async () => {
      const { tools } = await (await clinic.connect(caller)).listTools();
      const { resources } = (await as(clinic.app, caller).get('/api/auth/access')).json.data as {
        readonly resources: readonly Permitted[];
      };
      expect(resources.length).toBeGreaterThan(0);
      for (const { path, read, create, update, filter, sort, include } of resources) {
        const many = path.replace(/^\/api\/(.)/, (_, first: string) => first.toUpperCase());
        const one = many.slice(0, -1);
        const list = tools.find(({ name }) => name === `list${many}`)!;
        const filters = Object.keys(propertiesOf(list)).filter((name) => name.startsWith('filter.'));
        const isOf = (name: string, field: string) => name.replace(/\.\w+$/, '') === `filter.${field}`;
        const known = (name: string) => filter.some((field) => name === `filter.${field}` || isOf(name, field));
        expect([path, filters.filter((name) => !known(name))]).toEqual([path, []]);
        expect(filters).toEqual(expect.arrayContaining(filter.map((field) => `filter.${field}`)));
        expect(enumOf(list, 'sort')).toEqual(sort.flatMap((name) => [name, `-${name}`]));
        expect(enumOf(list, 'fields').toSorted()).toEqual(read.toSorted());
        expect(enumOf(list, 'include')).toEqual(include);
        for (const [name, allowed] of [
          [`create${one}`, create],
          [`update${one}`, update],
        ] as const)
          if (tools.some((tool) => tool.name === name))
            expect([name, namesOf(tools, name).toSorted()]).toEqual([name, allowed.toSorted()]);
      }
    });

    it('are accepted by the service, one by one', async () => {
      const client = await clinic.connect(caller);
      const { tools } = await client.listTools();
      const refused: unknown[] = [];
      const sub = Number(caller?.sub ?? 8);
      // The other resources have the same options.
      for (const tool of tools.filter(({ name }) => /Patient|Visit|Appointment/.test(name))) {
        const { required = [], ...root } = tool.inputSchema as Schema;
        const body = resolved(root['properties']['body'] ?? {}, root);
        const full = (schema: Schema): Schema =>
          Object.fromEntries(
            (schema['required'] ?? []).map((name: string) => [name, valueOf(schema['properties'][name], root)]),
          );
        const base: Schema = Object.fromEntries(
          required.map((name: string) => [
            name,
            name === 'id' ? sub : name === 'body' ? full(body) : valueOf(root['properties'][name], root),
          ]),
        );
        const calls = Object.entries(root['properties'] as Record<string, Schema>).flatMap(([name, schema]): Call[] => {
          if (name === 'id' || name === 'If-Match' || name === 'after') return [];
          if (name === 'body')
            return Object.entries((body['properties'] ?? {}) as Record<string, Schema>).map(
              ([field, value]) => [field, { ...base, body: { ...base.body, [field]: valueOf(value, root) } }] as const,
            );
          const needs = name.startsWith('fields.') ? { include: [name.slice('fields.'.length)] } : {};
          const term = tool.name.startsWith('search') ? { q: 'row' } : {};
          return valuesOf(schema, root).map((value) => [name, { ...base, ...term, ...needs, [name]: value }]);
        });
        for (const [name, args] of calls) {
          const { isError, structuredContent } = await client.callTool({ name: tool.name, arguments: args });
          const { status, message, fields } = (structuredContent ?? {}) as Schema;
          // A record of another caller, or one that was deleted by an earlier call.
          if (isError && (status === 400 || fields || !status))
            refused.push([tool.name, name, args, status, message, fields]);
        }
      }
      expect(refused).toEqual([]);
    });

    it('have results that are valid, and input schemas of one type each', async () => {
      const client = await clinic.connect(caller);
      const { tools } = await client.listTools();
      const ajv = new Ajv2020({ strict: false });
      const described = tools.filter(({ outputSchema }) => outputSchema);
      expect(described.length).toBeGreaterThan(5);
      for (const { name, inputSchema, outputSchema } of tools) {
        expect([name, /"type":\[/.test(JSON.stringify([inputSchema, outputSchema]))]).toEqual([name, false]);
        if (!outputSchema || !/^(list|get|search|count|exists|latest|aggregate)/.test(name)) continue;
        const args = { get: { id: 3 }, exists: { id: 3 }, search: { q: 'row' } }[/^[a-z]+/.exec(name)![0]] ?? {};
        const { structuredContent, isError } = await client.callTool({ name, arguments: args });
        expect([name, isError ?? false]).toEqual([name, false]);
        expect([name, ajv.validate(outputSchema as object, structuredContent), ajv.errorsText()]).toEqual([
          name,
          true,
          'No errors',
        ]);
      }
    });
  });
});
