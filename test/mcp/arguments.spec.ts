/** The arguments and results of tools, by caller: for each caller of the clinic, over all of its tools. */
import { ModuleRef } from '@nestjs/core';
import type { Tool } from '@modelcontextprotocol/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeForCallers } from 'declarest';
import { as } from 'declarest/testing';
import { startCrud } from '../crud/service.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { CALLERS, type Clinic, type Permitted, type Schema, startClinic } from './clinic.js';

type Args = Readonly<Record<string, unknown>>;
type Call = readonly [argument: string, args: Args];

vi.setConfig({ testTimeout: 120_000 });

const titleOf = (caller: (typeof CALLERS)[number]): string => caller?.roles[0] ?? 'nobody';

/** Follows a reference. */
const resolved = (schema: Schema, { $defs = {} }: Schema): Schema =>
  schema.$ref === undefined ? schema : $defs[schema.$ref.slice('#/$defs/'.length)]!;

/** A value that a schema allows. */
function valueOf(given: Schema, root: Schema): unknown {
  const { type = '', enum: values, anyOf, items = {}, minItems = 1, format, examples } = resolved(given, root);
  if (values ?? examples) return (values ?? examples)![0];
  if (anyOf) return valueOf(anyOf[0]!, root);
  if (type === 'array') return Array.from({ length: minItems }, () => valueOf(items, root));
  const byType: Args = { integer: 1, number: 1, boolean: true, object: {} };
  return byType[type] ?? (format === 'date-time' ? '2026-01-31' : '1');
}

/** Each value of a list of names, and one value of everything else. */
function valuesOf(schema: Schema, root: Schema): unknown[] {
  const names = resolved(schema.items ?? {}, root).enum;
  return names ? names.map((name) => [name]) : [valueOf(schema, root)];
}

const inputOf = ({ inputSchema }: Tool): Schema => inputSchema as Schema;
const propertiesOf = (tool: Tool): Readonly<Record<string, Schema>> => inputOf(tool).properties ?? {};
const bodyOf = (tool: Tool): Schema => resolved(propertiesOf(tool)['body'] ?? {}, inputOf(tool));
const enumOf = (tool: Tool, name: string): readonly string[] => propertiesOf(tool)[name]?.items?.enum ?? [];

/** A call with what is required, and one with each argument and each field of the body beside it. */
function callsOf(tool: Tool, id: number): Call[] {
  const root = inputOf(tool);
  const { properties: fields = {}, required = [] } = bodyOf(tool);
  const body = Object.fromEntries(required.map((name) => [name, valueOf(fields[name]!, root)]));
  const base = { ...(root.required?.includes('id') && { id }), ...(root.required?.includes('body') && { body }) };
  const needed = { ...base, ...(tool.name.startsWith('search') && { q: 'row' }) };
  return Object.entries(propertiesOf(tool)).flatMap(([name, schema]): Call[] => {
    if (['id', 'If-Match', 'after'].includes(name)) return [];
    if (name === 'body')
      return Object.entries(fields).map(([field, value]) => [
        field,
        { ...base, body: { ...body, [field]: valueOf(value, root) } },
      ]);
    const include = name.startsWith('fields.') && { include: [name.slice('fields.'.length)] };
    return valuesOf(schema, root).map((value) => [name, { ...needed, ...include, [name]: value }]);
  });
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
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
          for (const tool of tools.filter((each) => each.name === name))
            expect([name, Object.keys(bodyOf(tool).properties!).toSorted()]).toEqual([name, allowed.toSorted()]);
      }
    });

    it('are accepted by the service, one by one', async () => {
      const client = await clinic.connect(caller);
      const { tools } = await client.listTools();
      const refused: unknown[] = [];
      let sent = 0;
      // The other resources have the same options.
      for (const tool of tools.filter(({ name }) => /Patient|Appointment|listWards/.test(name)))
        for (const [name, args] of callsOf(tool, Number(caller?.sub ?? 8))) {
          sent += 1;
          const { isError, structuredContent } = await client.callTool({ name: tool.name, arguments: args });
          const { status, message, fields } = structuredContent as Args;
          // A record of another caller, or one that was deleted by an earlier call.
          if (isError && (status === 400 || fields || !status))
            refused.push([tool.name, name, args, status, message, fields]);
        }
      expect(refused).toEqual([]);
      expect(sent).toBeGreaterThan(40);
    });

    it('have results that are valid, and input schemas of one type each', async () => {
      const client = await clinic.connect(caller);
      const { tools } = await client.listTools();
      const ajv = new Ajv2020({ strict: false });
      const described = tools.filter(({ outputSchema }) => outputSchema);
      expect(described.length).toBeGreaterThan(5);
      for (const tool of tools) {
        const { name, inputSchema, outputSchema } = tool;
        expect([name, /"type":\[/.test(JSON.stringify([inputSchema, outputSchema]))]).toEqual([name, false]);
        if (!outputSchema || !/^(list|get|search|count|exists|aggregate)/.test(name)) continue;
        const args = { get: { id: 1 }, exists: { id: 1 }, search: { q: 'row' } }[/^[a-z]+/.exec(name)![0]] ?? {};
        // A part of the record, and a page without a total.
        const partly = { ...('fields' in propertiesOf(tool) && { fields: ['id'] }) };
        const uncounted = { ...('count' in propertiesOf(tool) && { count: 'none' }) };
        for (const more of [{}, { ...partly, ...uncounted }]) {
          const { structuredContent, isError } = await client.callTool({ name, arguments: { ...args, ...more } });
          expect([name, isError ?? false]).toEqual([name, false]);
          ajv.validate(outputSchema as object, structuredContent);
          expect([name, ajv.errors]).toEqual([name, null]);
        }
      }
    });
  });
});

it('describeForCallers needs an application with access rules', async () => {
  const { app, close } = await startCrud('express', { isDescribed: false });
  await expect(describeForCallers(app.get(ModuleRef))).rejects.toThrow(
    'The argument of describeForCallers() must be an application with access rules that has started, got another one.',
  );
  await close();
});
