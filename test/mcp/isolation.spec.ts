/**
 * `isolationProof` through tools: what a caller may not see changes no result of a tool, and a leak is found.
 * `npm run proof:tools` makes 2,000 calls of each caller, and has each leak on both platforms; `MCP_SEED` makes others.
 */
import type { INestApplication } from '@nestjs/common';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpModule } from 'declarest-mcp';
import { addAccess } from 'declarest/openapi';
import { IsolationError, isolationProof, type IsolationTransport, type TestUser } from 'declarest/testing';
import { PLATFORMS } from '../harness/platforms.js';
import { authorizationOf } from '../harness/tokens.js';
import { documentOf } from '../openapi/described.js';
import { ANN, BOB, varyFor } from '../testing/isolation/agency-entities.js';
import { agency, type Leak } from '../testing/isolation/agency.js';
import { sourceOf } from '../testing/isolation/shelf.js';
import { MCP_URL } from './service.js';

const FULL = process.env['MCP_CALLS'];
const CALLS = Number(FULL ?? 50);
/** By this seed, the leaks are found early. */
const SEED = Number(process.env['MCP_SEED'] ?? 7);

vi.setConfig({ testTimeout: 120_000 + CALLS * 400 });

/** Of generated and of hand-written operations. */
const LEAKS: readonly [leak: Leak, tool: RegExp][] = [
  ['owner', /\/api\/notes/],
  ['scope', /\/api\/payments/],
  ['count', /^GET \/api\/reports\/visits\/count$/],
  ['lookup', /^GET \/api\/settings\/taken$/],
];

interface Tools {
  readonly client: Client;
  /** The name of the tool, and those of its arguments, by `GET /api/projects/{id}`. */
  readonly byOperation: ReadonlyMap<string, { readonly name: string; readonly inputs: readonly string[] }>;
}

const connected = new WeakMap<INestApplication, Promise<Tools>>();

async function connect(app: INestApplication, caller: TestUser): Promise<Tools> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const { port } = app.getHttpServer().address();
  const headers = authorizationOf(caller);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const paths = Object.entries(documentOf(app).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, { operationId }]) => [operationId, `${verb.toUpperCase()} ${path}`] as const),
  );
  const operations = new Map(paths);
  const byOperation = tools.map(({ name, inputSchema: { properties = {} } }) => {
    return [operations.get(name) ?? name, { name, inputs: Object.keys(properties) }] as const;
  });
  return { client, byOperation: new Map(byOperation) };
}

const throughTools: IsolationTransport = async (app, caller, { operation, path, query, headers, json }) => {
  if (!connected.has(app)) connected.set(app, connect(app, caller));
  const { client, byOperation } = await connected.get(app)!;
  const tool = byOperation.get(operation);
  if (!tool) throw new Error(`No tool is ${operation}.`);
  const values: Record<string, unknown> = json === undefined ? {} : { body: json };
  const segments = path.split('/');
  for (const [index, name] of operation.replace(/^\w+ /, '').split('/').entries())
    if (name.startsWith('{')) values[name.slice(1, -1)] = decodeURIComponent(segments[index]!);
  for (const [name, value] of query) values[name.replaceAll(/\]?\[/g, '.').replaceAll(']', '')] = value;
  for (const [name, value] of Object.entries(headers)) {
    const input = tool.inputs.find((each) => each.toLowerCase() === name);
    if (input !== undefined) values[input] = value;
  }
  const {
    isError = false,
    content,
    structuredContent = {},
  } = await client.callTool({ name: tool.name, arguments: values });
  const { status = isError ? 400 : 200 } = structuredContent as { readonly status?: number };
  return { status, headers: {}, text: (content[0] as { text: string }).text, json: structuredContent };
};

describe.each(PLATFORMS)('isolationProof through tools on %s', (platform) => {
  const createApp = (leak?: Leak) =>
    agency(platform, leak, undefined, {
      imports: [
        McpModule.forRoot({ url: MCP_URL, include: ['accounts', 'batches', 'exports'], maxCallsPerMinute: 1_000_000 }),
      ],
      configure: (app) => McpModule.setup(app, () => addAccess(documentOf(app), app)),
    });
  const proof = (callers: TestUser[], requests: number, leak?: Leak) =>
    isolationProof(createApp(leak), {
      as: callers,
      vary: (app, caller) => varyFor(sourceOf(app), caller),
      requests,
      seed: SEED,
      send: throughTools,
    });

  it(`finds nothing by ${CALLS} calls of each caller`, async () => {
    const callers = FULL === undefined ? [platform === 'express' ? ANN : BOB] : [ANN, BOB];
    const { operations } = await proof(callers, CALLS);
    const statuses = Object.values(operations).flatMap((counts) => Object.keys(counts));
    expect(new Set(statuses)).toEqual(new Set([...statuses, '200', '400', '404']));
    const sent = Object.values(operations).flatMap((counts) => Object.values(counts));
    expect(sent.reduce((sum, count) => sum + count, 0)).toBe(CALLS * callers.length);
  });

  const leaks = LEAKS.filter((_, index) => FULL !== undefined || index === PLATFORMS.indexOf(platform));
  it.each(leaks)('finds the leak %s', async (leak, operation) => {
    const error: unknown = await proof([ANN], 2_000, leak).catch((reason: unknown) => reason);
    if (!(error instanceof IsolationError)) throw new Error('Nothing was found', { cause: error });
    expect(error.finding.request.operation).toMatch(operation);
  });
});
