/**
 * Makes the published code of what tsc has put into `build/`: a file for each entry point of package.json, and what they
 * share. An application that loads 118 files instead starts a tenth later (docs/performance.md).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Where `build/` and `dist/` are; here, unless an argument says otherwise. */
const folder = process.argv[2] ?? join(import.meta.dirname, '..');
const { bin, exports } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
const files = [...Object.values(exports).map((entry) => entry.default), ...Object.values(bin)].filter(Boolean);

await build({
  absWorkingDir: folder,
  entryPoints: files.map((file) => file.replace('./dist/', './build/')),
  outbase: 'build',
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});
