/** The server scenarios of the conformance suite of the protocol. `npm run test:mcp` installs the suite and runs them. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Controller, ForbiddenException, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { PLATFORMS } from '../harness/platforms.js';
import { startMcp } from './service.js';

/** What McpModule does not serve. A scenario of them that passes fails the run. */
const EXPECTED_FAILURES = [
  // Capabilities that it does not declare.
  'logging-set-level',
  'completion-complete',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  // Results of tools are JSON and text.
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  // Without sessions, the server sends no requests and notifications to a client.
  'tools-call-with-logging',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'server-sse-polling',
  'server-sse-multiple-streams',
  // Input schemas do not name their dialect, which is 2020-12 without a name.
  'json-schema-2020-12',
];

/** Tools that scenarios call by name. */
@Controller('/desk/scenarios')
class ScenarioController {
  @Get('text')
  @ApiOperation({ summary: 'Return a text', operationId: 'test_simple_text' })
  text(): string {
    return 'This is a simple text response for testing.';
  }

  @Get('error')
  @ApiOperation({ summary: 'Fail', operationId: 'test_error_handling' })
  error(): never {
    throw new ForbiddenException('This tool fails');
  }
}

describe.skipIf(!process.env['MCP_CONFORMANCE'])('the conformance suite', () => {
  it.each(PLATFORMS)('passes on %s', { timeout: 300_000 }, async (platform) => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-'));
    const baseline = join(folder, 'baseline.yml');
    writeFileSync(baseline, `server:\n${EXPECTED_FAILURES.map((each) => `  - ${each}\n`).join('')}`);
    // The origin is an option, so that the port must be known before the service starts.
    const server = createServer((...call) => service.app.getHttpServer().emit('request', ...call));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const service = await startMcp(platform, { allowedOrigins: [url], controllers: [ScenarioController] });
    const args = ['--url', `${url}/mcp`, '--suite', 'all', '--expected-failures', baseline, '-o', folder];
    const { code = 0, stdout } = await promisify(execFile)('conformance', ['server', ...args]).then(
      (output) => ({ ...output, code: 0 }),
      (error: { readonly code: number; readonly stdout: string }) => error,
    );
    await service.close();
    server.close();
    rmSync(folder, { recursive: true });
    expect([code, stdout.slice(stdout.indexOf('=== SUMMARY'))]).toEqual([0, expect.any(String)]);
  });
});
