import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AccessReport } from 'declarest';
import { rowsByOperation } from './access.js';
import type { OpenApiDocument } from './document.js';
import type { McpService } from './mcp-server.js';
import { MCP_OPTIONS, type ResolvedOptions } from './options.js';
import { compileTools } from './tools.js';

/** Compiles the tools once, when the application starts. */
@Injectable()
export class McpTools implements OnApplicationBootstrap {
  private readonly logger = new Logger('Tools');
  private compiled: McpService = { info: { name: 'declarest', version: '0' }, tools: new Map() };
  private document: (() => OpenApiDocument) | undefined;

  constructor(
    @Inject(MCP_OPTIONS) private readonly options: ResolvedOptions,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {}

  get service(): McpService {
    return this.compiled;
  }

  describeBy(document: () => OpenApiDocument): void {
    this.document = document;
  }

  /** AuthModule is global: Nest starts it before, so that the rules are known. */
  onApplicationBootstrap(): void {
    if (!this.document)
      return this.logger.warn(
        `No tools at ${this.options.path}. Call McpModule.setup(app, () => document) before app.listen().`,
      );
    const document = this.document();
    const { rows } = this.modules.get(AccessReport, { strict: false });
    const { path, hasNoServers } = this.options;
    const { byName, leftOut } = compileTools(document, { ...this.options, rowsOf: rowsByOperation(rows) });
    const { title: name = 'declarest', version = '0' } = document.info ?? {};
    this.compiled = Object.freeze({ info: { name, version }, tools: byName });
    const without = leftOut.length === 0 ? '' : `, without ${leftOut.join(', ')}`;
    if (hasNoServers)
      this.logger.warn(
        'No authorizationServers of McpModule: clients cannot log in by themselves (RFC 9728 §2). Name the issuers of their ' +
          'tokens, or set [] where they have tokens or API keys',
      );
    this.logger.log(`Tools: ${byName.size} at ${path}${without}`);
  }
}
