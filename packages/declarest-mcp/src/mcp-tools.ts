import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AccessReport, type CallerDocument, describeForCallers, type HttpRequest, InvalidOptionError } from 'declarest';
import { rowsByOperation } from './access.js';
import { COMPACT_NAMES } from './compact-tools.js';
import type { OpenApiDocument } from './document.js';
import type { McpService } from './mcp-server.js';
import { MCP_OPTIONS, type ResolvedOptions } from './options.js';
import { isDescribed } from './tool-definition.js';
import { compileTools } from './tools.js';

/** Compiles the tools once, when the application starts. */
@Injectable()
export class McpTools implements OnApplicationBootstrap {
  private readonly logger = new Logger('Tools');
  private compiled: McpService = {
    info: { name: 'declarest', version: '0' },
    document: {},
    tools: new Map(),
    isCompact: false,
  };
  private describe: (request: HttpRequest) => CallerDocument = () => ({ operations: [], schemas: new Map() });
  private document: (() => OpenApiDocument) | undefined;

  constructor(
    @Inject(MCP_OPTIONS) private readonly options: ResolvedOptions,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {}

  get service(): McpService {
    return this.compiled;
  }

  /** What the sender of a request may send to generated operations. */
  describeFor(request: HttpRequest): CallerDocument {
    return this.describe(request);
  }

  describeBy(document: () => OpenApiDocument): void {
    this.document = document;
  }

  /** AuthModule is global: Nest starts it before, so that the rules are known. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.document)
      return this.logger.warn(
        `No tools at ${this.options.path}. Call McpModule.setup(app, () => document) before app.listen().`,
      );
    this.describe = await describeForCallers(this.modules);
    const document = this.document();
    const { rows } = this.modules.get(AccessReport, { strict: false });
    const { path, hasNoServers, isCompact } = this.options;
    const { byName, leftOut } = compileTools(document, { ...this.options, rowsOf: rowsByOperation(rows) });
    const { title: name = 'declarest', version = '0' } = document.info ?? {};
    const taken = COMPACT_NAMES.find((each) => isCompact && byName.has(each));
    if (taken !== undefined)
      throw new InvalidOptionError('operationId', 'no name of a compact tool', taken, 'Set it with @ApiOperation()');
    this.compiled = Object.freeze({ info: { name, version }, document, tools: byName, isCompact });
    const without = leftOut.length === 0 ? '' : `, without ${leftOut.join(', ')}`;
    if (hasNoServers)
      this.logger.warn(
        'No authorizationServers of McpModule: clients cannot log in by themselves (RFC 9728 §2). Name the issuers of their ' +
          'tokens, or set [] where they have tokens or API keys',
      );
    const undescribed = [...byName.values()].filter((tool) => !isDescribed(tool)).map((tool) => tool.name);
    if (undescribed.length > 0)
      this.logger.warn(
        `Tools without a description: ${undescribed.join(', ')}. Give their methods @ApiOperation({ summary: '…' }).`,
      );
    this.logger.log(`Tools: ${byName.size}${isCompact ? ' operations, compact,' : ''} at ${path}${without}`);
  }
}
