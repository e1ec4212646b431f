/** How a tool call reaches the application. */
import { once } from 'node:events';
import { createServer, request as sendRequest, type Server } from 'node:http';
import * as https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListenOptions } from 'node:net';
import { Controller, Get, VersioningType } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Tool } from '@modelcontextprotocol/server';
import { McpModule } from 'declarest-mcp';
import { addAccess } from 'declarest/openapi';
import { send } from '../../packages/declarest-mcp/src/application-request.js';
import { authModule } from '../access/ruled-app.js';
import { startCrud } from '../crud/service.js';
import { request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { documentOf } from '../openapi/described.js';
import { EDITOR, MCP_URL, slow, startMcp } from './service.js';

const maxResponseBytes = 1_000;
const REQUEST = { method: 'GET', path: '/desk', headers: {} };

async function listening(options: ListenOptions): Promise<Server> {
  const server = createServer((_request, response) => response.end('here'));
  server.listen(options);
  await once(server, 'listening');
  return server;
}

describe('the address of the application', () => {
  const { signal } = new AbortController();

  it.each([
    ['every address of IPv4', { port: 0, host: '0.0.0.0' }],
    ['every address', { port: 0 }],
    ['one address', { port: 0, host: '127.0.0.1' }],
    ['a socket of Unix', { path: join(tmpdir(), `declarest-mcp-${process.pid}.sock`) }],
  ])('is found where it listens on %s', async (_where, options) => {
    const server = await listening(options);
    expect(await send(server, REQUEST, signal, { maxResponseBytes, internalUrl: undefined })).toMatchObject({
      status: 200,
      text: 'here',
    });
    server.close();
  });

  it('is that of the option, with TLS too', async () => {
    const server = await listening({ port: 0, host: '127.0.0.1' });
    const { port } = server.address() as { port: number };
    const other = createServer();
    const at = (scheme: string) => ({ maxResponseBytes, internalUrl: new URL(`${scheme}://127.0.0.1:${port}`) });
    expect(await send(other, REQUEST, signal, at('http'))).toMatchObject({ text: 'here' });
    await expect(send(other, REQUEST, signal, at('https'))).rejects.toThrow(/SSL|EPROTO|wrong version/i);
    server.close();
  });

  it('is not known before it listens, or with TLS', () => {
    expect(() => send(createServer(), REQUEST, signal, { maxResponseBytes, internalUrl: undefined })).toThrow(
      'The application does not listen.',
    );
    expect(() => send(https.createServer(), REQUEST, signal, { maxResponseBytes, internalUrl: undefined })).toThrow(
      'Set internalUrl of McpModule.',
    );
  });
});

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('a client that goes ends its call', async () => {
    const service = await startMcp(platform);
    const begun = once(slow, 'begun');
    const closed = once(slow, 'closed');
    const outgoing = sendRequest(`${service.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
    outgoing.on('error', () => undefined);
    outgoing.end(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', arguments: {} } }),
    );
    await begun;
    outgoing.destroy();
    await closed;
    expect(service.logs.filter((line) => line.startsWith('error'))).toEqual([]);
    await service.close();
  });

  it('an application that cannot be reached is a tool error, which is logged', async () => {
    const server = await listening({ port: 0, host: '127.0.0.1' });
    const { port } = server.address() as { port: number };
    server.close();
    const service = await startMcp(platform, { internalUrl: `http://127.0.0.1:${port}` });
    const client = await service.connect(EDITOR);
    expect(await client.callTool({ name: 'getItem', arguments: { id: 1 } })).toMatchObject({
      isError: true,
      structuredContent: { message: 'The application did not answer' },
    });
    expect(service.logs.join('\n')).toMatch(/error \[Tools\] GET \/items\/\{id\} failed.*ECONNREFUSED/s);
    await service.close();
  });

  it('works without generated resources', async () => {
    @Controller('/clock')
    class ClockController {
      @Get()
      @ApiOperation({ summary: 'Read the clock', operationId: 'clock' })
      read() {
        return { hour: 12 };
      }
    }
    const service = await startCrud(platform, {
      controllers: [ClockController],
      imports: [authModule(), McpModule.forRoot({ url: MCP_URL, tools: 'compact' })],
      isDescribed: false,
      configure: (app) => McpModule.setup(app, () => addAccess(documentOf(app), app)),
    });
    const { text } = await request(service.url, 'POST', '/mcp', {
      headers: { accept: 'application/json, text/event-stream' },
      json: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    });
    expect(JSON.parse(/^data: (.*)$/m.exec(text)![1]!).result.tools.map(({ name }: Tool) => name)).toEqual(['clock']);
    await service.close();
  });

  it('works with a global prefix and versions', async () => {
    const service = await startMcp(platform, {
      providers: [],
      auth: { defaultAccess: 'public' },
      configure: (app) => {
        app.setGlobalPrefix('v', { exclude: ['mcp', '.well-known/*path'] });
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
      },
    });
    const client = await service.connect(EDITOR);
    const { structuredContent } = await client.callTool({ name: 'getItem', arguments: { id: 1 } });
    expect(structuredContent).toMatchObject({ data: { id: 1 } });
    expect(
      await client.callTool({ name: (await client.listTools()).tools[0]!.name, arguments: { number: 1 } }),
    ).toMatchObject({
      structuredContent: { data: { number: 1 } },
    });
    const { json } = await request(service.url, 'GET', '/.well-known/oauth-protected-resource/mcp');
    expect(json).toMatchObject({ resource: MCP_URL });
    await service.close();
  });
});
