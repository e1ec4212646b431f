/** The endpoint as the protocol and its authorization require. */
import { discoverOAuthProtectedResourceMetadata } from '@modelcontextprotocol/client';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { authorizationOf, claims, makeToken } from '../harness/tokens.js';
import { EDITOR, MCP_URL, type McpService, startMcp } from './service.js';

const REVISION = '2026-07-28';
const ISSUER = 'https://login.shop.example';
const METADATA = '/.well-known/oauth-protected-resource/mcp';
const CHALLENGE = `resource_metadata="https://shop.example${METADATA}"`;
const ACCEPT = { accept: 'application/json, text/event-stream' };

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: McpService;
  beforeAll(async () => {
    service = await startMcp(platform, { authorizationServers: [ISSUER] });
  });
  afterAll(() => service.close());

  const post = (options: RequestOptions): Promise<Answer> =>
    request(service.url, 'POST', '/mcp', { ...options, headers: { ...ACCEPT, ...options.headers } });

  const ask = async (method: string, params: object = {}, headers: Record<string, string> = {}): Promise<Answer> => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const name = 'name' in params ? { 'mcp-name': String(params.name) } : {};
    return post({
      json: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: meta } },
      headers: { 'mcp-protocol-version': REVISION, 'mcp-method': method, ...name, ...headers },
    });
  };

  describe('requests', () => {
    it('of the newest revision and of that of 2025 are answered', async () => {
      for (const mode of ['legacy', { pin: REVISION }] as const) {
        const client = await service.connect(EDITOR, mode);
        expect(client.getNegotiatedProtocolVersion()).toMatch(mode === 'legacy' ? /^2025-/ : /^2026-07-28$/);
        expect(client.getServerVersion()).toEqual({ name: 'Test', version: '1' });
        expect((await client.listTools()).tools.length).toBeGreaterThan(30);
        expect(await client.callTool({ name: 'getLabel', arguments: { id: 1 } })).toMatchObject({
          structuredContent: { data: { id: 1, text: 'a' } },
        });
      }
    });

    it('leave no session behind', async () => {
      const answer = await ask('tools/list');
      expect(answer).toMatchObject({
        status: 200,
        json: { jsonrpc: '2.0', id: 7, result: { tools: expect.any(Array) } },
      });
      expect(answer.headers).not.toHaveProperty('mcp-session-id');
      for (const method of ['GET', 'DELETE', 'PUT', 'PROPFIND', 'TRACE']) {
        const { status, headers } = await request(service.url, method, '/mcp', { headers: ACCEPT });
        expect([method, status, headers['allow']]).toEqual([method, 405, 'POST']);
      }
      expect((await ask('subscriptions/listen', { notifications: { toolsListChanged: true } })).json).toMatchObject({
        error: { code: -32_603 },
      });
    });

    it('for an unknown tool or method are errors of the protocol', async () => {
      expect((await ask('tools/call', { name: 'sell', arguments: {} })).json).toEqual({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32_602, message: 'Unknown tool: sell' },
      });
      expect((await ask('tools/sell')).json).toMatchObject({ id: 7, error: { code: -32_601 } });
      const client = await service.connect(EDITOR);
      await expect(client.callTool({ name: 'login', arguments: {} })).rejects.toThrow('Unknown tool: login');
    });

    it('that are no JSON-RPC are errors of the protocol', async () => {
      const headers = { 'content-type': 'application/json' };
      expect(await post({ body: '{"jsonrpc":', headers })).toMatchObject({
        status: 400,
        json: { jsonrpc: '2.0', error: { code: -32_700 }, id: null },
      });
      for (const json of [{}, [], { jsonrpc: '1.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: 1, method: 5 }])
        expect(await post({ json })).toMatchObject({
          status: 400,
          json: { jsonrpc: '2.0', error: { code: expect.any(Number) } },
        });
      expect(await post({ body: 'x', headers: { 'content-type': 'text/plain' } })).toMatchObject({
        status: 415,
        json: { jsonrpc: '2.0', error: { code: expect.any(Number) }, id: null },
      });
      expect(await post({ json: 'x'.repeat(2_000_000) })).toMatchObject({
        status: 413,
        json: { jsonrpc: '2.0', error: { code: expect.any(Number) }, id: null },
      });
    });

    it('have one message, as in every revision since 2025-06-18', async () => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listLabels', arguments: {} } };
      for (const version of ['2025-03-26', '2025-11-25', REVISION])
        expect(await post({ json: [message, message], headers: { 'mcp-protocol-version': version } })).toMatchObject({
          status: 400,
          json: { jsonrpc: '2.0', error: { code: -32_600, message: expect.stringContaining('one message') }, id: null },
        });
    });

    it('of pages of other origins are refused', async () => {
      const origin = (value: string) => ask('tools/list', {}, { origin: value });
      expect(await origin('https://shop.example')).toMatchObject({ status: 200 });
      for (const other of ['https://evil.example', 'http://shop.example', 'null'])
        expect(await origin(other)).toMatchObject({ status: 403, json: { error: 'Origin not allowed' } });
    });
  });

  describe('authorization', () => {
    it('is described by the metadata of the resource', async () => {
      const { status, json } = await request(service.url, 'GET', METADATA);
      const metadata = {
        resource: MCP_URL,
        authorization_servers: [ISSUER],
        bearer_methods_supported: ['header'],
        resource_name: 'Test',
      };
      expect([status, json]).toEqual([200, metadata]);
      expect(await discoverOAuthProtectedResourceMetadata(`${service.url}/mcp`)).toEqual(metadata);
    });

    it('names the metadata where the token is not valid, also on a public route', async () => {
      const expired = makeToken({ payload: claims({ exp: 1 }) });
      for (const token of [expired, 'x', makeToken({ secret: 'another secret of more than 32 bytes' })])
        expect(await ask('tools/list', {}, { authorization: `Bearer ${token}` })).toMatchObject({
          status: 401,
          headers: { 'www-authenticate': `Bearer error="invalid_token", ${CHALLENGE}` },
          json: { error: 'Authentication required' },
        });
    });

    it('refuses a token for another audience', async () => {
      const statusFor = async (aud: unknown): Promise<number> => {
        const token = makeToken({ payload: claims({ aud }) });
        return (await ask('tools/list', {}, { authorization: `Bearer ${token}` })).status;
      };
      expect(await statusFor(undefined)).toBe(200);
      expect(await statusFor(MCP_URL)).toBe(200);
      expect(await statusFor(['https://other.example', MCP_URL])).toBe(200);
      for (const other of ['https://other.example', [], ['https://other.example'], 5, null])
        expect([other, await statusFor(other)]).toEqual([other, 401]);
    });

    it('takes the audience of AuthModule', async () => {
      const named = await startMcp(platform, { audience: 'shop', auth: { audience: 'shop' } });
      expect(
        (await (await named.connect({ ...EDITOR, claims: { aud: 'shop' } })).listTools()).tools.length,
      ).toBeGreaterThan(30);
      await named.close();
    });

    it('is required where no rule opens the route', async () => {
      const closed = await startMcp(platform, { providers: [], auth: { defaultAccess: 'authenticated' } });
      const json = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const send = (headers: object = {}) =>
        request(closed.url, 'POST', '/mcp', { json, headers: { ...ACCEPT, ...headers } });
      expect(await send()).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': `Bearer ${CHALLENGE}` },
        json: { error: 'Authentication required' },
      });
      expect(await send({ authorization: 'Bearer x' })).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': `Bearer error="invalid_token", ${CHALLENGE}` },
      });
      expect((await send(authorizationOf(EDITOR))).status).toBe(200);
      expect((await request(closed.url, 'GET', METADATA)).json).toMatchObject({ resource: MCP_URL });
      await closed.close();
    });
  });
});
