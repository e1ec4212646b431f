// Packs declarest and declarest-mcp, installs them in an empty folder as a service does, checks the types of a file that uses
// them, and calls a tool with the client of the protocol.
//
//     npm run test:packages
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { emptyFolder, installAndCompile, packDeclarest, packWorkspace, run } from './packed.mjs';

const OTHERS = [
  '@nestjs/platform-express@12',
  '@nestjs/swagger@12',
  '@modelcontextprotocol/client@2',
  '@types/node@20',
];

const USE = `
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AuthModule, AuthUser, SecurityConfig, UserRepository } from 'declarest';
import { McpModule } from 'declarest-mcp';
import { TelemetryModule } from 'declarest/observe';
import { addAccess } from 'declarest/openapi';

class User extends AuthUser {}

class NoUsers extends UserRepository {
  async findById() { return null; }
  async findByLogin() { return null; }
  async create(): Promise<never> { throw new Error('Nobody registers here.'); }
  async update() { return null; }
}

@Controller('/api/clock')
class ClockController {
  @Get() read() { return { hour: 12 }; }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/mcp', 'GET /api/clock');
  }
}

@Module({
  imports: [
    TelemetryModule,
    AuthModule.forRoot({ userClass: User, repositoryClass: NoUsers }),
    McpModule.forRoot({ url: 'https://clock.example/mcp' }),
  ],
  controllers: [ClockController],
  providers: [Rules],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] });
const config = new DocumentBuilder().setTitle('Clock').setOpenAPIVersion('3.1.0').build();
McpModule.setup(app, () => addAccess(SwaggerModule.createDocument(app, config), app));
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address() as AddressInfo;
const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL(\`http://127.0.0.1:\${port}/mcp\`)));
const { tools } = await client.listTools();
const { structuredContent } = await client.callTool({ name: tools[0]?.name ?? '', arguments: {} });
console.log(JSON.stringify([tools.length, structuredContent, client.getNegotiatedProtocolVersion()]));
await client.close();
await app.close();
`;

const folder = emptyFolder();
const tarballs = [packDeclarest(folder), packWorkspace('declarest-mcp', folder)];
installAndCompile(folder, [...OTHERS, ...tarballs], USE, {
  compilerOptions: { types: ['node'], experimentalDecorators: true, emitDecoratorMetadata: true },
});
// Without it, TelemetryModule does nothing.
assert(!existsSync(join(folder, 'node_modules/@opentelemetry/api')));
const used = JSON.parse(run(process.execPath, ['use.js'], folder));
assert.deepEqual(used, [1, { data: { hour: 12 } }, '2026-07-28']);
console.log('declarest-mcp works as installed from its tarball.');
