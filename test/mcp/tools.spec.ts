/** Which operations are tools, for whom, and how they are described. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { McpModule, type OptionalTools } from 'declarest-mcp';
import type { Client } from '@modelcontextprotocol/client';
import { linesOf, ONE_PLATFORM } from '../harness/platforms.js';
import type { Schema } from './clinic.js';
import { ADMIN, EDITOR, MCP_URL, type McpService, startMcp, USER } from './service.js';

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let service: McpService;
  beforeAll(async () => {
    service = await startMcp(platform);
  });
  afterAll(() => service.close());

  const toolOf = async (name: string) => {
    const { tools } = await (await service.connect(ADMIN)).listTools();
    return tools.find((tool) => tool.name === name)!;
  };

  it('lists the operations that the caller may use', async () => {
    const visitor = await namesOf(await service.connect());
    expect(visitor).toEqual(expect.arrayContaining(['listItems', 'getItem', 'searchItems', 'seen', 'echo']));
    for (const name of ['createItem', 'updateItem', 'deleteItem', 'createMaker', 'policy', 'listAdminMakers'])
      expect(visitor).not.toContain(name);
    const user = await namesOf(await service.connect(USER));
    expect(user).toEqual(expect.arrayContaining([...visitor, 'createMaker', 'policy']));
    expect(user).not.toContain('createItem');
    const editor = await namesOf(await service.connect(EDITOR));
    expect(editor).toEqual(expect.arrayContaining([...user, 'createItem', 'updateItem']));
    expect(editor).not.toContain('deleteItem');
    // By the role hierarchy.
    expect(await namesOf(await service.connect({ roles: ['CHIEF'] }))).toEqual(editor);
    expect(await namesOf(await service.connect(ADMIN))).toEqual(
      expect.arrayContaining([...editor, 'deleteItem', 'listAdminMakers']),
    );
  });

  it('leaves out accounts, batches, denied operations, uploads and the endpoint itself', async () => {
    const names = await namesOf(await service.connect(ADMIN));
    for (const name of ['login', 'createItems', 'updateItems', 'deleteItems', 'createLabel', 'importItems', 'upload'])
      expect(names).not.toContain(name);
    expect(names.filter((name) => /mcp/i.test(name))).toEqual([]);
    expect((await toolOf('deleteItem')).inputSchema.properties).not.toHaveProperty('purge');
    expect(service.logs.join('\n')).toMatch(
      /Tools: \d+ at \/mcp, without upload \(its body is multipart\/form-data\), importItems \(its body is application\/x-ndjson or text\/csv\)$/m,
    );
  });

  it('has input schemas that model providers accept, and that are those of the document', async () => {
    const { tools } = await (await service.connect(ADMIN)).listTools();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { name, inputSchema } of tools) {
      expect([name, ajv.validateSchema(inputSchema)]).toEqual([name, true]);
      expect(() => ajv.compile(inputSchema)).not.toThrow();
      const wrong = Object.keys(inputSchema.properties ?? {}).filter((each) => !/^[\w.-]{1,64}$/.test(each));
      expect([name, wrong]).toEqual([name, []]);
    }
    const { inputSchema } = await toolOf('updateItem');
    expect(inputSchema).toMatchObject({
      type: 'object',
      properties: { id: { type: 'integer' }, 'If-Match': { type: 'string' }, body: { $ref: '#/$defs/ItemPatch' } },
      required: ['id', 'body'],
      additionalProperties: false,
      $defs: { ItemPatch: { type: 'object', properties: { title: { type: 'string', maxLength: 30 } } } },
    });
    const validate = ajv.compile(inputSchema);
    expect(validate({ id: 1, body: { title: 'seven' } })).toBe(true);
    expect(validate({ id: 1, body: { title: 7 } })).toBe(false);
  });

  it('says what a tool does to the records', async () => {
    const closed = { openWorldHint: false };
    const write = { ...closed, readOnlyHint: false, destructiveHint: true };
    expect((await toolOf('listItems')).annotations).toEqual({ ...closed, readOnlyHint: true });
    expect((await toolOf('createItem')).annotations).toEqual({
      ...write,
      destructiveHint: false,
      idempotentHint: false,
    });
    for (const name of ['replaceItem', 'updateItem', 'deleteItem'])
      expect((await toolOf(name)).annotations).toEqual({ ...write, idempotentHint: true });
    expect((await toolOf('echo')).annotations).toEqual({ ...write, idempotentHint: false });
  });

  it('is titled and described as the operation', async () => {
    expect(await toolOf('getItem')).toMatchObject({ title: 'Get an Item', description: 'Get an Item' });
    expect(await toolOf('seen')).toMatchObject({ title: 'Seen', description: 'Seen. What a handler sees.' });
    expect(await toolOf('deleteItem')).toMatchObject({
      description: 'Delete an Item. It is hidden, and can be restored.',
    });
    expect(await toolOf('deleteLabel')).toMatchObject({ description: 'Delete a Label. Nothing of it remains.' });
  });

  it('names the fields of a body that the server does not set', async () => {
    expect((await toolOf('createMaker')).description).toBe(
      'Create a Maker. Required fields: name. Other fields: country.',
    );
    expect((await toolOf('updateMaker')).description).toMatch(/keeps its value\. Fields: name, country\.$/);
    const { $defs } = (await toolOf('updateMaker')).inputSchema as Schema;
    expect(Object.keys($defs!['MakerPatch']!.properties!)).toEqual(['name', 'country']);
  });

  it('has an output schema of what the package answers, and none of what the application has written', async () => {
    expect((await toolOf('getMaker')).outputSchema).toEqual({
      type: 'object',
      properties: { data: { $ref: '#/$defs/Maker' }, metadata: expect.any(Object), etag: { type: 'string' } },
      $defs: expect.objectContaining({ Maker: { type: 'object', properties: expect.any(Object) } }),
    });
    expect(await toolOf('seen')).not.toHaveProperty('outputSchema');
  });

  it('has the words of a method as title where nothing else describes it, which is warned about', async () => {
    expect(await toolOf('closed')).toMatchObject({ title: 'Closed', description: 'Closed. GET /desk/closed.' });
    expect(linesOf(service.logs, 'warn').filter((line) => line.includes('without a description'))).toEqual([
      expect.stringMatching(/: closed, broken, .*, echo\. Give their methods @ApiOperation\(\{ summary: '…' \}\)\.$/),
    ]);
  });

  it('leaves out what only `include` adds', async () => {
    const plain = await startMcp(platform, { include: [] });
    const names = await namesOf(await plain.connect(ADMIN));
    expect(names).toContain('listItems');
    expect(names.filter((name) => /^login|Items$/.test(name) && /^(login|create|delete|export)/.test(name))).toEqual(
      [],
    );
    await plain.close();
  });

  it('has the tools of `only`, and with `readOnly` none that changes something', async () => {
    const reading = await startMcp(platform, { readOnly: true });
    const { tools } = await (await reading.connect(ADMIN)).listTools();
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(tools.length).toBeGreaterThan(15);
    await reading.close();
    const one = await startMcp(platform, { only: ['listItems'] });
    const client = await one.connect(ADMIN);
    expect(await namesOf(client)).toEqual(['listItems']);
    expect(client.getInstructions()).toContain('never an instruction');
    await expect(client.callTool({ name: 'createItem', arguments: {} })).rejects.toThrow('Unknown tool: createItem');
    await one.close();
  });

  it('says of filters only what a tool takes', async () => {
    const { description = '', inputSchema } = await toolOf('listItems');
    expect(description).toContain('Filters narrow the list together.');
    expect([
      description.includes('['),
      Object.keys(inputSchema.properties ?? {}).some((name) => name.includes('[')),
    ]).toEqual([false, false]);
  });

  it('adds what the option names', async () => {
    const include: readonly OptionalTools[] = ['accounts', 'batches', 'exports', 'purge'];
    const all = await startMcp(platform, { include });
    const { tools } = await (await all.connect(ADMIN)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['login', 'createItems', 'deleteItems', 'exportItems']),
    );
    const { inputSchema } = tools.find(({ name }) => name === 'deleteItem')!;
    expect(inputSchema.properties).toHaveProperty('purge');
    const client = await all.connect(ADMIN);
    const items = [
      { title: 'six', price: 1 },
      { title: 'seven', price: 1 },
    ];
    expect(await client.callTool({ name: 'createItems', arguments: { body: { items } } })).toMatchObject({
      structuredContent: { data: [{ title: 'six' }, { title: 'seven' }] },
    });
    await all.close();
  });
});

it('warns of metadata without authorization servers, unless they are said to be none', async () => {
  const warned = async (options: object) => {
    const service = await startMcp('fastify', options);
    await service.close();
    return linesOf(service.logs, 'warn').filter((line) => line.includes('authorizationServers'));
  };
  expect(await warned({})).toEqual([expect.stringContaining('set [] where they have tokens or API keys')]);
  expect([await warned({ authorizationServers: [] }), await warned({ authorizationServers: [MCP_URL] })]).toEqual([
    [],
    [],
  ]);
});

it('refuses a name of `only` that no tool has', async () => {
  await expect(startMcp('express', { only: ['sellItem'] })).rejects.toThrow(
    'The option only of McpModule must be names of tools, got sellItem',
  );
});

it('warns of an application that calls no McpModule.setup', async () => {
  const service = await startMcp('express', { isSetUp: false });
  expect(service.logs).toContain(
    'warn [Tools] No tools at /mcp. Call McpModule.setup(app, () => document) before app.listen().',
  );
  expect(await namesOf(await service.connect())).toEqual([]);
  await service.close();
});

it.each([
  ['url', { url: '/mcp' }],
  ['url', { url: 'https://shop.example' }],
  ['url', { url: 'https://shop.example/mcp?x=1' }],
  ['url', { url: 'https://shop.example/:x' }],
  ['authorizationServers', { url: MCP_URL, authorizationServers: ['login.example'] }],
  ['tools', { url: MCP_URL, tools: 'few' as never }],
  ['only', { url: MCP_URL, only: 'listItems' as never }],
  ['readOnly', { url: MCP_URL, readOnly: 'yes' as never }],
  ['maxResponseBytes', { url: MCP_URL, maxResponseBytes: 0 }],
  ['maxCallsPerMinute', { url: MCP_URL, maxCallsPerMinute: 1.5 }],
  ['include', { url: MCP_URL, include: ['batch' as OptionalTools] }],
  ['allowedOrigins', { url: MCP_URL, allowedOrigins: ['*'] }],
  ['internalUrl', { url: MCP_URL, internalUrl: 'ftp://shop.example' }],
  ['internalUrl', { url: MCP_URL, internalUrl: 'http://127.0.0.1/api' }],
])('refuses a wrong option %s: %j', (name, options) => {
  expect(() => McpModule.forRoot(options)).toThrow(new RegExp(`^The option ${name} of McpModule must be `));
});
