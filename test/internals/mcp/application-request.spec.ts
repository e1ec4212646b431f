/** Where a tool call sends its request. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import * as https from 'node:https';
import type { ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '../../../packages/declarest-mcp/src/application-request.js';

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
