/** How a tool call reaches the application. */
import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import { Controller, Get, VersioningType } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Tool } from '@modelcontextprotocol/server';
import { McpModule } from 'declarest-mcp';
import { addAccess } from 'declarest/openapi';
import { authModule } from '../access/ruled-app.js';
import { startCrud } from '../crud/service.js';
import { request } from '../harness/client.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { documentOf } from '../openapi/described.js';
import { EDITOR, MCP_URL, slow, startMcp } from './service.js';

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
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
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
