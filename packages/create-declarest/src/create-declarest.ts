#!/usr/bin/env node
// The command: npm create declarest <folder>. It imports nothing that older versions of Node lack.
import { isSupportedNode } from './node-version.js';

if (isSupportedNode(process.versions.node)) {
  const { run } = await import('./run.js');
  process.exitCode = run(process.argv.slice(2));
} else {
  console.error(`create-declarest needs Node 20.19 or later, got ${process.versions.node}: install a newer one.`);
  process.exitCode = 2;
}
