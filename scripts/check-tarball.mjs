// Checks the list of published files: the build and the documents, nothing else, and no link to a file that is missing.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const ENTRIES = ['index', ...['express', 'observe', 'openapi', 'plugin', 'testing'].map((name) => `${name}/index`)];
const DOCUMENTS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'package.json',
  'docs/learn/getting-started.md',
  'llms.txt',
];
const REQUIRED = [...DOCUMENTS, ...ENTRIES.flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`])];
const ALLOWED = /^(dist\/.+\.(js|js\.map|d\.ts)|docs\/.+\.md|docs\/images\/.+\.png|skills\/.+\.md)$/;

const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
const packed = Object.values(JSON.parse(output))[0].files.map(({ path }) => path);

const deadLinks = packed
  .filter((path) => path.endsWith('.md') || path === 'llms.txt')
  .flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
      .map(([, target]) => ({ path, target, file: posix.join(posix.dirname(path), target) }))
      .filter(({ file }) => !packed.includes(file)),
  );

const problems = [
  ...packed
    .filter((path) => !REQUIRED.includes(path) && !ALLOWED.test(path))
    .map((path) => `${path} must not be published`),
  ...REQUIRED.filter((path) => !packed.includes(path)).map((path) => `${path} is missing`),
  ...deadLinks.map(({ path, target }) => `${path} links to ${target}, which is not published`),
];
for (const problem of problems) console.error(problem);
console.log(`The package holds ${packed.length} files, ${problems.length} problems.`);
process.exitCode = problems.length > 0 ? 1 : 0;
