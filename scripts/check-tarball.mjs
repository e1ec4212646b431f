// What is published: the build and the documents, and nothing else.
import { execFileSync } from 'node:child_process';

const DOCUMENTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];

const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
const packed = Object.values(JSON.parse(output))[0].files.map(({ path }) => path);

const ENTRIES = ['dist/index', 'dist/testing/index', 'dist/express/index'].flatMap((name) => [
  `${name}.js`,
  `${name}.d.ts`,
]);

const problems = [
  ...packed
    .filter((path) => !DOCUMENTS.includes(path) && !/^dist\/.+\.(js|js\.map|d\.ts)$/.test(path))
    .map((path) => `${path} does not belong into the package`),
  ...[...DOCUMENTS, ...ENTRIES].filter((path) => !packed.includes(path)).map((path) => `${path} is missing`),
];
for (const problem of problems) console.error(problem);
console.log(`The package holds ${packed.length} files, ${problems.length} problems.`);
process.exitCode = problems.length > 0 ? 1 : 0;
