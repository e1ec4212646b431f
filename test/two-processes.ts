/** One application in two processes of Node that share a database, as in production. */
import { join } from 'node:path';
import { type Child, startChild } from './child-process.js';
import { compile } from './compiled.js';
import { createDatabase, type DatabaseName, type TestDatabase } from './harness/databases.js';

export interface TwoProcesses {
  readonly urls: readonly [string, string];
  readonly database: TestDatabase;
  end(): Promise<void>;
}

/** What the application has beside its users, whose table is `people`. */
export interface ApplicationParts {
  /** Names that it imports beside those of `AuthModule`, by the entry that has them. */
  readonly uses?: Readonly<Record<string, readonly string[]>>;
  /** Further options of `AuthModule`, as code. */
  readonly auth: string;
  /** Code in front of the module. */
  readonly declarations?: string;
  /** Further members of the module, as code. */
  readonly module?: string;
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

const sourceOf = ({ uses = {}, auth, declarations = '', module = '' }: ApplicationParts): string => `
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser } from 'declarest';
${Object.entries(uses)
  .map(([entry, names]) => `import { ${names.join(', ')} } from '${entry}';`)
  .join('\n')}
import { Entity } from 'typeorm';

@Entity('people') class User extends AuthUser {}
${declarations}
@Module({
  imports: [
    TypeOrmModule.forRoot(
      process.env['FILE']
        ? { type: 'better-sqlite3', database: process.env['FILE'], autoLoadEntities: true, synchronize: process.env['SYNCHRONIZE'] === 'on' }
        : { ...JSON.parse(process.env['DATABASE'] ?? ''), synchronize: process.env['SYNCHRONIZE'] === 'on' },
    ),
    AuthModule.forRoot({ userClass: User, jwtSecret: 'x'.repeat(40), bcryptRounds: 4, ${auth} }),
  ],
  ${module}
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
`;

export async function startTwice(name: DatabaseName, parts: ApplicationParts): Promise<TwoProcesses> {
  const compiled = await compile([], { 'apps/main.ts': sourceOf(parts) });
  const database = await createDatabase(name);
  const { options } = database;
  const children: Child[] = [];
  const start = async (SYNCHRONIZE: 'on' | 'off'): Promise<string> => {
    const child = startChild(process.execPath, [join(compiled.directory, 'apps/main.js')], {
      cwd: compiled.directory,
      env: {
        SYNCHRONIZE,
        ...(name === 'sqlite' ? { FILE: String(options.database) } : { DATABASE: JSON.stringify(options) }),
        ...parts.env,
      },
    });
    children.push(child);
    return (await child.says(/http:\S+/))[0];
  };
  // The first one creates the tables.
  const urls = [await start('on'), await start('off')] as const;
  return {
    urls,
    database,
    async end() {
      for (const child of children) child.signal('SIGKILL');
      await Promise.all(children.map(({ ended }) => ended));
      await database.drop();
      await compiled.remove();
    },
  };
}
