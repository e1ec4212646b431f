import { type DynamicModule, type INestApplication, Module } from '@nestjs/common';
import type { OpenApiDocument } from './document.js';
import { McpExceptionFilter } from './mcp-exception.filter.js';
import { mcpController } from './mcp.controller.js';
import { McpTools } from './mcp-tools.js';
import { MCP_OPTIONS, type McpOptions, resolveOptions } from './options.js';

/**
 * An endpoint of the Model Context Protocol (streamable HTTP, stateless), whose tools are the operations of the
 * application. A tool call is a request to the application with the caller's token, so that all of its rules apply.
 *
 * @example
 * imports: [AuthModule.forRoot({ … }), McpModule.forRoot({ url: 'https://shop.example/mcp' })]
 */
@Module({})
export class McpModule {
  /** @throws InvalidOptionError */
  static forRoot(options: McpOptions): DynamicModule {
    const resolved = resolveOptions(options);
    return {
      module: McpModule,
      controllers: [mcpController(resolved)],
      providers: [{ provide: MCP_OPTIONS, useValue: resolved }, McpTools, McpExceptionFilter],
    };
  }

  /**
   * Says which operations are tools. Call it before the application starts; the function runs once, at its start.
   *
   * @param document makes the OpenAPI 3.1 document
   * @example
   * McpModule.setup(app, () => addAccess(SwaggerModule.createDocument(app, config), app));
   */
  static setup(app: INestApplication, document: () => object): void {
    app.get(McpTools, { strict: false }).describeBy(document as () => OpenApiDocument);
  }
}
