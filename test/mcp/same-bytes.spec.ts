/**
 * Calls through tools give the same bytes as the same requests on HTTP. Two applications get the same random calls, one of
 * them through tools: every result, every failure, and the records afterwards are the same. Compact tools refuse by
 * themselves what the caller may not use.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as fc from 'fast-check';
import { type Answer, request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { authorizationOf } from '../harness/tokens.js';
import { DescribedApi, type Described, documentOf, type Parameter } from '../openapi/described.js';
import { type RandomRequest, Requests } from '../openapi/random-requests.js';
import { ADMIN, EDITOR, MAKERS, type McpService, startMcp, USER } from './service.js';

/** `npm run proof:tools` makes 2,000 calls on each platform; `MCP_SEED` makes others. */
const CALLS = Number(process.env['MCP_CALLS'] ?? 100);
const SEED = Number(process.env['MCP_SEED'] ?? 1);
const CALLERS = [undefined, USER, EDITOR, ADMIN] as const;
/** When records were written, and responses. */
const NOW = new RegExp(String.raw`${new Date().getFullYear()}-\d\d-\d\d[T ][\d:.]+Z?`, 'g');
const LEFT_OUT = ['/api/auth', '/batch', '/desk'];
/** Their ids are random, and so is the order of lists of them. */
const RANDOM = ['createMaker', 'createAdminMaker'];

vi.setConfig({ testTimeout: 120_000 + CALLS * 100 });

interface Call {
  readonly operation: Described;
  readonly sent: RandomRequest;
  readonly caller: (typeof CALLERS)[number];
}

/** The compact tool and the operation of a route below its resource. */
const COMPACT: Readonly<Record<string, readonly [tool: string, operation: string]>> = {
  'GET ': ['find', 'findAll'],
  'GET search': ['find', 'search'],
  'GET count': ['count', 'count'],
  'GET aggregate': ['get', 'aggregate'],
  'GET export': ['get', 'export'],
  'GET exists/{id}': ['get', 'exists'],
  'GET {id}': ['get', 'findById'],
  'POST ': ['write', 'create'],
  'PUT {id}': ['write', 'update'],
  'PATCH {id}': ['write', 'patch'],
  'DELETE {id}': ['write', 'delete'],
  'POST {id}/restore': ['write', 'restore'],
};

/** Refusals of compact tools, of what HTTP refuses too. */
const REFUSED = /^\{"message":"(Unknown arguments: |(resource|operation of \w+) must be one of: )/;

const FORMS = PLATFORMS.flatMap((platform) =>
  (['operations', 'compact'] as const).map((tools) => ({ platform, tools })),
);

describe.each(FORMS)('on $platform with $tools', ({ platform, tools }) => {
  let plain: McpService;
  let called: McpService;
  let operations: readonly Described[];
  let requests: Requests;
  const clients = new Map<unknown, Client>();

  beforeAll(async () => {
    [plain, called] = [await startMcp(platform), await startMcp(platform, { tools })];
    const api = new DescribedApi(documentOf(plain.app));
    operations = api.operations.filter(
      ({ path, operationId }) => !LEFT_OUT.some((each) => path.includes(each)) && !RANDOM.includes(operationId),
    );
    const idsOf = ({ path }: Described, { name }: Parameter): unknown[] =>
      name === 'id' && path.includes('makers') ? MAKERS : [1, 2, 3];
    requests = new Requests(api, idsOf, false);
    for (const caller of CALLERS) clients.set(caller, await called.connect(caller));
  });
  afterAll(async () => {
    await plain.close();
    await called.close();
  });

  const sendPlainly = async ({ sent: { method, path, body }, caller }: Call): Promise<Answer> =>
    request(plain.url, method, path, {
      headers: caller ? authorizationOf(caller) : {},
      ...(body !== undefined && { json: body }),
    });

  const callTool = ({ operation, sent, caller }: Call) => {
    const args = argumentsOf(operation, sent);
    if (tools === 'operations') return clients.get(caller)!.callTool({ name: operation.operationId, arguments: args });
    const [, resource = ''] = /^(.*\/(?:items|makers|labels|remarks))/.exec(operation.path) ?? [];
    const [name, compact] = COMPACT[`${operation.method.toUpperCase()} ${operation.path.slice(resource.length + 1)}`]!;
    const [tag] = operation.tags;
    return clients.get(caller)!.callTool({ name, arguments: { resource: tag, operation: compact, parameters: args } });
  };

  it(`${CALLS} calls have the bytes of the same requests`, async () => {
    const any = fc.oneof(
      ...operations.flatMap((operation) => {
        const forbidden = requests.forbidden(operation);
        return [requests.allowed(operation), ...(forbidden ? [forbidden] : [])].map((sent) =>
          fc.record({ operation: fc.constant(operation), sent, caller: fc.constantFrom(...CALLERS) }),
        );
      }),
    );
    const seen = new Map<number, number>();
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(any, async (call) => {
        const { path, body } = call.sent;
        // A tool takes neither parameters that the document does not have, nor a body that is no JSON value.
        fc.pre(!/zz_unknown|purge=/.test(path) && Buffer.byteLength(path) < 4_000);
        fc.pre(call.operation.requestBody === undefined || body !== undefined);
        const answer = await sendPlainly(call);
        const { isError = false, structuredContent, content } = await callTool(call);
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        const { text } = content[0] as { text: string };
        const isRefused = tools === 'compact' && answer.status > 299 && REFUSED.test(text);
        refusals += Number(isRefused);
        const isSame = isRefused || masked(text) === masked(expectedText(answer));
        const same = isError === answer.status > 299 && isSame;
        if (!same || JSON.stringify(structuredContent) !== text)
          throw new Error(
            `${call.sent.method} ${path} ${JSON.stringify(body)} by ${JSON.stringify(call.caller)}\n${answer.status} ${answer.text}\n${text}`,
          );
      }),
      { numRuns: CALLS, seed: SEED, endOnFailure: true, includeErrorInReport: true },
    );
    const statuses = [200, 201, 400, 401, 403, 404].filter((status) => !seen.has(status));
    expect(refusals > 0).toBe(tools === 'compact');
    if (CALLS >= 1000) expect([statuses, [...seen]]).toEqual([[], [...seen]]);
  });

  it('leave the same records', async () => {
    for (const path of ['/items?size=100&deleted=with', '/makers', '/admin/makers', '/items/1/remarks']) {
      const [one, other] = await Promise.all(
        [plain, called].map(({ url }) => request(url, 'GET', path, { headers: authorizationOf(ADMIN) })),
      );
      expect([path, one!.status]).toEqual([path, 200]);
      expect(masked(other!.text)).toBe(masked(one!.text));
    }
  });
});

const masked = (text: string): string => text.replaceAll(NOW, 'now');

/** The text of the result, made of the bytes of the response. */
function expectedText({ status, text, json, headers }: Answer): string {
  if (status > 299) {
    const { message, error = message, fields } = json as Record<string, unknown>;
    const shownFields = fields === undefined ? '' : `,"fields":${JSON.stringify(fields)}`;
    return `{"status":${status},"message":${JSON.stringify(error)}${shownFields}}`;
  }
  const etag = headers['etag']?.startsWith('"') ? `,"etag":${JSON.stringify(headers['etag'])}` : '';
  const isJson = headers['content-type']?.startsWith('application/json');
  if (!isJson) return `{"data":${headers['content-type'] === undefined ? null : JSON.stringify(text)}${etag}}`;
  // The envelope: `{"success":true,"message":"…","data":…,"timestamp":"…","metadata":…}`
  const data = /"data":(.*),"timestamp":"[^"]*"(?:,("metadata":.*))?\}$/s.exec(text);
  if (!data) throw new Error(`No envelope: ${text}`);
  return `{"data":${data[1]}${data[2] === undefined ? '' : `,${data[2]}`}${etag}}`;
}

/** The arguments that say the same as a request. */
function argumentsOf({ path, parameters }: Described, sent: RandomRequest): Record<string, unknown> {
  const url = new URL(sent.path, 'http://localhost');
  const values: Record<string, unknown> = {};
  const segments = sent.path.split('?')[0]!.split('/');
  for (const [index, name] of path.split('/').entries())
    if (name.startsWith('{')) values[name.slice(1, -1)] = decodeURIComponent(segments[index]!);
  for (const name of new Set(url.searchParams.keys())) {
    const all = url.searchParams.getAll(name);
    const isList = parameters.find((each) => each.name === name)?.schema['type'] === 'array';
    values[name.replaceAll(/\]?\[/g, '.').replaceAll(']', '')] = isList || all.length > 1 ? all : all[0];
  }
  return { ...values, ...(sent.body !== undefined && { body: sent.body }) };
}
