/**
 * Creates an application up to its routes and compiles its rules. No server listens, no data source of TypeOrmModule
 * connects, and no lifecycle hook runs. The constructors and factories of its providers do run: rules may depend on them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { Global, Module, type INestApplication, type OnModuleInit, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { getDataSourceToken, getRepositoryToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DataSource, getMetadataArgsStorage, type DataSourceOptions } from 'typeorm';
import { AccessRules } from '../access/access-rules.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { loadSwagger } from '../documents/describe-controller.js';
import { parseJson } from '../http/json-body.js';
import { addAccess } from '../openapi/add-access.js';
import { arrange } from '../openapi/arrange.js';
import { compileReach } from '../reach/reach.js';
import { applicationOf } from '../routes/application.js';
import type { Platform } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import type { LoadedModule } from './load-module.js';

class RoutesRegistered extends Error {}

/** Nest calls the hooks of global modules first, after it has registered the routes. This one ends the start there. */
@Global()
@Module({})
class StopBeforeHooks implements OnModuleInit {
  onModuleInit(): never {
    throw new RoutesRegistered();
  }
}

export const compileApplication = (loaded: LoadedModule, platform: Platform | undefined) =>
  inApplication(loaded, platform, async (app) => {
    const compiled = await compileAccess(app);
    return { compiled, reach: await compileReach(app, compiled) };
  });

/** @throws CommandError without rules */
export async function compileAccess(app: INestApplication): Promise<CompiledAccess> {
  const compiled = await compileRules(app);
  if (compiled) return compiled;
  throw new CommandError('The application has no access rules. Import AuthModule or AccessModule in its root module.');
}

/** The document with the access rules, as far as the application has rules. @throws CommandError */
export async function compileDocument(app: INestApplication): Promise<OpenAPIObject> {
  const swagger = await loadSwagger((sentence) => new CommandError(sentence));
  const manifest = existsSync('package.json') && parseJson(readFileSync('package.json', 'utf8'));
  const { name = 'API', version = '0.0.0', description = '' } = (manifest || {}) as Readonly<Record<string, string>>;
  const builder = new swagger.DocumentBuilder().setTitle(name).setVersion(version).setDescription(description);
  const document = swagger.SwaggerModule.createDocument(app, builder.addServer('/').setOpenAPIVersion('3.1.0').build());
  return (await compileRules(app)) ? addAccess(document, app) : arrange(document);
}

/** @throws CommandError where it does not start */
export async function inApplication<R>(
  { module, configure }: LoadedModule,
  platform: Platform | undefined,
  read: (app: INestApplication) => R | Promise<R>,
): Promise<R> {
  const { Test } = await import('@nestjs/testing').catch(() => {
    throw new CommandError('@nestjs/testing is missing. Install it: npm install --save-dev @nestjs/testing.');
  });
  try {
    const adapter = await (platform ? ADAPTERS[platform]() : ADAPTERS.express().catch(ADAPTERS.fastify));
    const imports = [StopBeforeHooks, module];
    // In preview mode Nest creates no providers.
    const preview = await Test.createTestingModule({ imports }).compile({ preview: true });
    const builder = Test.createTestingModule({ imports });
    disconnectDataSources(builder, preview.get(ModulesContainer));
    const app = (await builder.compile()).createNestApplication<INestApplication>(adapter as never);
    await configure?.(app);
    await app.init().catch((error: unknown) => {
      if (!(error instanceof RoutesRegistered)) throw error;
    });
    return await read(app);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`The application does not start: ${reasonOf(cause)}.`, { cause });
  }
}

/** `undefined` without rules. They are compiled when an application starts, which this one does not. */
async function compileRules(app: INestApplication): Promise<CompiledAccess | undefined> {
  const rules = applicationOf(app).providerOf(AccessRules);
  rules?.onModuleInit();
  await rules?.onApplicationBootstrap();
  return rules?.compiled;
}

const ADAPTERS: Readonly<Record<Platform, () => Promise<object>>> = {
  express: async () => new (await import('@nestjs/platform-express')).ExpressAdapter(),
  fastify: async () => new (await import('@nestjs/platform-fastify')).FastifyAdapter(),
};

/** The token under which TypeOrmModule provides its options. Without it, the command ends with an error. */
const OPTIONS = 'TypeOrmModuleOptions';

class DisconnectedDataSource extends DataSource {
  override async initialize(): Promise<this> {
    await this.buildMetadatas();
    return this;
  }
}

function disconnectDataSources(builder: TestingModuleBuilder, modules: ModulesContainer): void {
  for (const name of dataSourceNames(modules))
    builder.overrideProvider(getDataSourceToken(name)).useFactory({
      inject: [{ token: OPTIONS, optional: true }],
      factory: async (options: TypeOrmModuleOptions | undefined) => {
        if (!options)
          throw new CommandError(
            `The data source "${name}" would connect, because TypeOrmModule does not create it. Create it with TypeOrmModule.forRoot(…).`,
          );
        const { entities = [], autoLoadEntities } = options;
        const loaded = autoLoadEntities ? entitiesOf(modules, name) : [];
        const all = { ...options, entities: [...Object.values(entities), ...loaded] };
        return new DisconnectedDataSource(all as DataSourceOptions).initialize();
      },
    });
}

/** The modules that TypeOrmModule imports export the token of their data source: the class, or `<name>DataSource`. */
function dataSourceNames(modules: ModulesContainer): Set<string> {
  const typeOrmModules = [...modules.values()].filter(({ metatype }) => metatype === TypeOrmModule);
  const tokens = typeOrmModules.flatMap(({ imports }) => [...imports].flatMap(({ exports }) => [...exports]));
  const nameOf = (token: unknown) => (typeof token === 'string' ? /^(.+)DataSource$/.exec(token)?.[1] : undefined);
  return new Set(tokens.flatMap((token) => (token === DataSource ? 'default' : (nameOf(token) ?? []))));
}

/** The entity classes for which some module provides a repository of this data source. */
function entitiesOf(modules: ModulesContainer, dataSource: string): Type[] {
  const provided = new Set([...modules.values()].flatMap(({ providers }) => [...providers.keys()]));
  return getMetadataArgsStorage()
    .tables.map(({ target }) => target as Type)
    .filter((target) => typeof target === 'function' && provided.has(getRepositoryToken(target, dataSource) as string));
}
