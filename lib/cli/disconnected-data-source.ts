/**
 * Replaces the data sources of TypeOrmModule by ones that never connect, with Nest's `overrideProvider`. The only file
 * that relies on the token under which @nestjs/typeorm provides its options; without it the command ends with an error.
 */
import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { getDataSourceToken, getRepositoryToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource, getMetadataArgsStorage, type DataSourceOptions } from 'typeorm';
import { CommandError } from './command-error.js';

const OPTIONS = 'TypeOrmModuleOptions';

class DisconnectedDataSource extends DataSource {
  /** Reads the entities, and opens no connection. */
  override async initialize(): Promise<this> {
    await this.buildMetadatas();
    return this;
  }
}

/** @param modules the modules of the application, with their providers by token */
export function disconnectDataSources(builder: TestingModuleBuilder, modules: ModulesContainer): void {
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
  const names = tokens.map((token) => {
    if (token === DataSource) return 'default';
    return typeof token === 'string' ? /^(.+)DataSource$/.exec(token)?.[1] : undefined;
  });
  return new Set(names.filter((name) => name !== undefined));
}

/** The entity classes for which some module provides a repository of this data source. */
function entitiesOf(modules: ModulesContainer, dataSource: string): Type[] {
  const provided = new Set([...modules.values()].flatMap(({ providers }) => [...providers.keys()]));
  return getMetadataArgsStorage()
    .tables.map(({ target }) => target as Type)
    .filter((target) => typeof target === 'function' && provided.has(getRepositoryToken(target, dataSource) as string));
}
