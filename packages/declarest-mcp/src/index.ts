/** declarest-mcp: the operations of an application as tools of the Model Context Protocol. */

export { McpModule } from './mcp.module.js';
export type { McpOptions, OptionalTools } from './options.js';
