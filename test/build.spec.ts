/** What `npm run build` writes, built into a folder of its own and used as an application uses it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { REPOSITORY } from './compiled.js';

let folder: string;

beforeAll(() => {
  // Below node_modules, so that the build finds its dependencies.
  const cache = join(REPOSITORY, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'declarest-build-'));
  const tsc = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
  // `npm run typecheck` checks the types.
  node(tsc, '--noCheck', '--project', join(REPOSITORY, 'tsconfig.build.json'), '--outDir', join(folder, 'dist'));
  writeFileSync(join(folder, 'package.json'), readFileSync(join(REPOSITORY, 'package.json')));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns what the program printed on stdout */
function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: { NO_COLOR: '1' }, stdio: 'pipe' });
}

/** Runs a module that imports the build by the name of the package. */
function run(source: string): string {
  return node('--enable-source-maps', '--input-type=module', '--eval', `import 'reflect-metadata';\n${source}`);
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(directory.length + 1)
        .split(sep)
        .join('/'),
    );

it('writes a module, its declarations and its source map for each source file, and nothing else', () => {
  const names = filesBelow(join(REPOSITORY, 'lib')).map((path) => path.replace(/\.ts$/, ''));
  const expected = names.flatMap((name) => [`${name}.d.ts`, `${name}.js`, `${name}.js.map`]);
  expect(filesBelow(join(folder, 'dist')).toSorted()).toEqual(expected.toSorted());
});

it('keeps the class names that Nest logs, and source files and lines in stack traces', () => {
  const output = run(`
    import { Module } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';
    import { AuthModule, AuthUser, CrudModule, UserRepository } from 'declarest';
    class User extends AuthUser {}
    class Users extends UserRepository {}
    class AppModule {}
    Module({ imports: [AuthModule.forRoot({ userClass: User, repositoryClass: Users })] })(AppModule);
    const app = await NestFactory.create(AppModule, { abortOnError: false });
    await app.init();
    await app.close();
    try { CrudModule.forFeature() } catch (error) { console.log(error.stack) }
  `);
  expect(output).toContain(' AuthModule dependencies initialized');
  const [, file, line] = /[\\/]lib[\\/](crud[\\/][\w.-]+\.ts):(\d+):\d+/.exec(output) ?? [output];
  const source = readFileSync(join(REPOSITORY, 'lib', file ?? ''), 'utf8').split('\n');
  expect(source[Number(line) - 1]).toMatch(/throw|InvalidOptionError/);
});

it('exports every type that the declarations of generated controllers of an application name', () => {
  const source = `
    import type { Type } from '@nestjs/common';
    import { CrudController, type ListQuery } from 'declarest';
    export const Audited = <T extends object>(entity: Type<T>) =>
      class extends CrudController<T>({ entity, endpoint: '/audited' }) {
        override async findById(id: string) { return (await super.findById(id)).data; }
        override findAll(query: ListQuery) { return super.findAll(query); }
        override async aggregate(query: ListQuery) { return (await super.aggregate(query)).data; }
      };
  `;
  const application = join(folder, 'application');
  mkdirSync(join(application, 'node_modules'), { recursive: true });
  symlinkSync(folder, join(application, 'node_modules', 'declarest'));
  writeFileSync(join(application, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(application, 'audited.ts'), source);
  const tsc = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--ignoreConfig', '--strict', '--skipLibCheck', '--declaration', '--preserveSymlinks'];
  node(tsc, ...options, '--module', 'nodenext', join(application, 'audited.ts'));
});

it('makes the command executable by its first line', () => {
  expect(readFileSync(join(folder, 'dist', 'cli', 'declarest.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(node(join(folder, 'dist', 'cli', 'declarest.js'), '--help')).toMatch(/^Usage:\n  declarest access /);
});
