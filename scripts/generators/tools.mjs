// How generators of clients are called in a folder with `openapi.json`: each writes TypeScript to a folder of its name.

const INPUT = './openapi.json';
const STA = 'swagger-typescript-api';

const toConfig = (config) => `export default ${JSON.stringify(config)};\n`;

const KUBB = `
import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
import { pluginZod } from '@kubb/plugin-zod';

export default defineConfig({
  root: '.',
  input: { path: '${INPUT}' },
  output: { path: './kubb', extension: { '.ts': '.js' }, barrelType: false, format: false, lint: false },
  plugins: [
    pluginOas({ generators: [] }),
    pluginTs({ output: { path: 'types.ts' } }),
    pluginZod({ output: { path: 'zod.ts' }, version: '4', importPath: 'zod' }),
    pluginClient({ output: { path: 'client.ts' }, client: 'fetch' }),
  ],
});
`;

/** `config` is the name and the text of its configuration, `types` the file with the types of records. */
export const TOOLS = {
  'hey-api': {
    config: [
      'openapi-ts.config.mjs',
      toConfig({
        input: INPUT,
        output: { path: 'hey-api', module: { extension: '.js' } },
        plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript', 'zod'],
      }),
    ],
    command: ['openapi-ts'],
    types: 'types.gen',
  },
  kubb: {
    config: ['kubb.config.js', KUBB],
    command: ['kubb', 'generate'],
    types: 'types',
  },
  orval: {
    config: [
      'orval.config.mjs',
      toConfig({
        fetch: { input: INPUT, output: { target: 'orval/client.ts', client: 'fetch' } },
        zod: { input: INPUT, output: { target: 'orval/zod.ts', client: 'zod' } },
      }),
    ],
    command: ['orval', '--config', 'orval.config.mjs'],
    types: 'client',
  },
  [STA]: {
    command: [STA, 'generate', '--path', INPUT, '--output', STA, '--name', 'client.ts'],
    types: 'client',
  },
};

/** What must hold of the types of the service: a nullable enum has `null`, and is not `any`. */
export const checkOf = (types) => `
import type { Product } from './${types}.js';

type HasNull<T> = 0 extends 1 & T ? false : null extends T ? true : false;

export const tierHasNull: HasNull<Product['tier']> = true;
`;

/** Compiles the folder of a tool to `out/` beside it, because the schemas of zod are used too. */
export const tsconfigOf = (tool) => ({
  compilerOptions: {
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'Bundler',
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: [],
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    rootDir: '.',
    outDir: `../out/${tool}`,
  },
  include: ['.'],
});
