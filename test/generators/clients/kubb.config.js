import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
import { pluginZod } from '@kubb/plugin-zod';

export default defineConfig({
  root: '.',
  input: { path: './generated/openapi.json' },
  output: { path: './generated/kubb', extension: { '.ts': '.js' }, barrelType: false, format: false, lint: false },
  plugins: [
    pluginOas({ generators: [] }),
    pluginTs({ output: { path: 'types.ts' } }),
    pluginZod({ output: { path: 'zod.ts' }, version: '4', importPath: 'zod' }),
    pluginClient({ output: { path: 'client.ts' }, client: 'fetch' }),
  ],
});
