/** Five tools for all resources: what they list, describe, send and refuse, by caller. */
import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Client } from '@modelcontextprotocol/client';
import { as } from 'declarest/testing';
import { ONE_PLATFORM } from '../harness/platforms.js';
import type { Answer } from '../harness/client.js';
import { CALLERS, type Clinic, type Permitted, RESOURCES, ROLES, type Schema, startClinic } from './clinic.js';
import { startMcp } from './service.js';

const callerOf = (role: (typeof ROLES)[number]) => CALLERS[ROLES.indexOf(role) + 1]!;
/** The application counts for itself. */
const OWN = ['dailyTotals', 'desk'];

describe.each(ONE_PLATFORM)('compact tools on %s', (platform) => {
  let clinic: Clinic;
  beforeAll(async () => {
    clinic = await startClinic(platform, { tools: 'compact' });
  });
  afterAll(() => clinic.close());

  const namesFor = async (caller: (typeof CALLERS)[number]): Promise<string[]> =>
    (await (await clinic.connect(caller)).listTools()).tools.map(({ name }) => name).toSorted();

  const call = async (client: Client, name: string, args: object) => {
    const { isError = false, structuredContent } = await client.callTool({ name, arguments: { ...args } });
    return { isError, ...(structuredContent as Answer['json']) };
  };

  it('take at most 3,000 tokens for twelve resources and every role', async () => {
    expect(RESOURCES).toBe(12);
    expect(clinic.logs.join('\n')).toMatch(/^log \[Tools\] Tools: \d+ operations, compact, at \/mcp$/m);
    for (const caller of CALLERS) {
      const { tools } = await (await clinic.connect(caller)).listTools();
      expect([caller?.roles, Buffer.byteLength(JSON.stringify({ tools })) <= 12_000]).toEqual([caller?.roles, true]);
    }
  });

  it('are those that the caller can use for a resource, beside the tools of the application', async () => {
    expect(await namesFor(undefined)).toEqual(['count', 'describe', 'find', 'get']);
    for (const role of ROLES)
      expect(await namesFor(callerOf(role))).toEqual(['count', ...OWN, 'describe', 'find', 'get', 'write'].toSorted());
    const reading = await startClinic(platform, { tools: 'compact', readOnly: true, only: ['listVisits', 'getVisit'] });
    const { tools } = await (await reading.connect(callerOf('DOCTOR'))).listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['describe', true],
      ['find', true],
      ['get', true],
    ]);
    expect(tools[1]!.inputSchema.properties!['resource']).toEqual({ type: 'string', enum: ['Visits'] });
    await reading.close();
  });

  it('say what they do to records', async () => {
    const { tools } = await (await clinic.connect(callerOf('NURSE'))).listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    for (const name of ['describe', 'find', 'get', 'count'])
      expect(hints[name]).toEqual({ readOnlyHint: true, openWorldHint: false });
    expect(hints['write']).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    });
  });

  it('describe what the access endpoint names, and nothing else', async () => {
    for (const caller of CALLERS) {
      const client = await clinic.connect(caller);
      const { json } = await as(clinic.app, caller).get('/api/auth/access');
      const resources = json.data.resources as readonly Permitted[];
      const { tools } = await client.listTools();
      const { inputSchema } = tools.find(({ name }) => name === 'describe')!;
      expect((inputSchema as Schema).properties!['resource']!.enum).toHaveLength(resources.length);
      for (const { path, operations, read, filter, sort, include, create, update } of resources) {
        const resource = path.replace(/^\/api\/(.)/, (_: string, first: string) => first.toUpperCase());
        const described = await call(client, 'describe', { resource });
        expect(described).toMatchObject({ isError: false, resource, sort, include });
        expect(described.read.toSorted()).toEqual(read.toSorted());
        expect(Object.keys(described.filter).toSorted()).toEqual(filter.toSorted());
        const called = described.operations as readonly { readonly operation: string; readonly input: Schema }[];
        expect(called.map(({ operation }) => operation).toSorted()).toEqual(
          operations.filter((name) => !name.endsWith('Many')).toSorted(),
        );
        const fieldsOf = (operation: string): string[] | undefined => {
          const found = called.find((each) => each.operation === operation);
          const [body = {}] = Object.values(found?.input.$defs ?? {});
          return found && Object.keys(body.properties ?? {}).toSorted();
        };
        expect([create.toSorted(), undefined]).toContainEqual(fieldsOf('create'));
        expect([update.toSorted(), undefined]).toContainEqual(fieldsOf('patch'));
      }
    }
  });

  it('send the requests of the operations that they name', async () => {
    const doctor = await clinic.connect(callerOf('DOCTOR'));
    const query = { filter: { 'title.in': ['row 1', 'row 2'] }, sort: ['-title'], size: 1, fields: ['title'] };
    expect(await call(doctor, 'find', { resource: 'Visits', ...query })).toEqual({
      isError: false,
      data: [{ title: 'row 2' }],
      metadata: { pagination: { page: 1, size: 1, total: 2, totalPages: 2 } },
    });
    expect(await call(doctor, 'find', { resource: 'Visits', search: 'row 3' })).toMatchObject({ data: [{ id: 3 }] });
    expect(await call(doctor, 'count', { resource: 'Visits', filter: { 'id.lt': 4 } })).toMatchObject({
      data: { count: 3 },
    });
    expect(await call(doctor, 'get', { resource: 'Orders', id: 1, include: ['patient'] })).toMatchObject({
      data: { title: 'row 1', patient: { diagnosis: 'flu' } },
    });
    expect(await call(doctor, 'get', { resource: 'Orders', id: 1 })).toMatchObject({ etag: '"1"' });
    const own = { resource: 'Appointments', operation: 'confirm', id: 2, body: { reason: 'x' } };
    expect(await call(doctor, 'write', { ...own, parameters: { by: 'me' } })).toMatchObject({ data: '2 me x' });
    const latest = { resource: 'Appointments', operation: 'latest' };
    expect(await call(doctor, 'get', latest)).toMatchObject({ data: [{ id: 8 }] });
    const patch = { resource: 'Visits', operation: 'patch', id: 5, body: { title: 'new' }, etag: '"1"' };
    expect(await call(doctor, 'write', patch)).toMatchObject({ data: { title: 'new' }, etag: '"2"' });
    expect(await call(doctor, 'write', patch)).toMatchObject({ isError: true, status: 412 });
    expect((await as(clinic.app, callerOf('DOCTOR')).get('/api/visits/5')).json.data.title).toBe('new');
  });

  it('refuse what the caller may not use as what does not exist, and name what he may use', async () => {
    const nurse = await clinic.connect(callerOf('NURSE'));
    const refused = async (name: string, args: object): Promise<string> => {
      const { isError, message } = await call(nurse, name, args);
      expect(isError).toBe(true);
      return message;
    };
    for (const field of ['amount', 'secret', 'internal', 'colour']) {
      const message = await refused('find', { resource: 'Visits', filter: { [field]: '1' } });
      expect(message).toContain(`Unknown arguments: filter.${field}. findAll of Visits takes size, page,`);
      expect(message.replace(`filter.${field}. `, '')).not.toMatch(/amount|secret|internal|diagnosis/);
    }
    const resources = await refused('describe', { resource: 'Invoices' });
    expect(resources).toBe(await refused('describe', { resource: 'Cars' }));
    expect(resources).toMatch(/^resource must be one of: Patients, Visits, /);
    expect(resources).not.toMatch(/Invoices|Insurances|Messages/);
    expect(await refused('write', { resource: 'Wards', operation: 'create' })).not.toContain('Wards');
    expect(await refused('write', { resource: 'Patients', operation: 'delete', id: 1 })).toBe(
      'operation of Patients must be one of: create, update, patch',
    );
    expect(await refused('find', { resource: 'Visits', filter: ['title'] })).toBe('filter must be an object');
    expect(await refused('get', { resource: 'Visits', id: '..' })).toContain('must not be empty');
    await expect(nurse.callTool({ name: 'sell', arguments: {} })).rejects.toThrow('Unknown tool: sell');
  });

  it('count as calls', async () => {
    const limited = await startClinic(platform, { tools: 'compact', maxCallsPerMinute: 1 });
    const client = await limited.connect(callerOf('USER'));
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-31T09:30:30Z') });
    expect(await call(client, 'describe', { resource: 'Visits' })).toMatchObject({ isError: false });
    expect(await call(client, 'find', { resource: 'Visits' })).toMatchObject({ message: 'Too many calls. Wait 30 s' });
    vi.useRealTimers();
    await limited.close();
  });
});

it('have names that no operation has', async () => {
  @Controller('/find')
  class FindController {
    @Get()
    @ApiOperation({ operationId: 'find' })
    find(): void {}
  }
  const options = { controllers: [FindController] };
  await expect(startMcp('express', { ...options, tools: 'compact' })).rejects.toThrow(
    'operationId must be no name of a compact tool, got find. Set it with @ApiOperation().',
  );
  await (await startMcp('express', options)).close();
});
