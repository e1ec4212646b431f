import { randomBytes } from 'node:crypto';
import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import { isEntity } from '../entities/declared-entities.js';
import { authController } from './auth.controller.js';
import {
  AUTH_STATIC_OPTIONS,
  RANDOM_SECRET,
  type AuthSettings,
  type AuthStaticOptions,
  type ResolvedStaticOptions,
} from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { resolveStaticOptions } from './resolve-options.js';
import { findUserTable, TypeOrmUserRepository } from './typeorm-user.repository.js';
import { UserRepository } from './user.repository.js';

const extras: AuthStaticOptions = {
  userClass: undefined as never,
  repositoryClass: undefined as never,
  authBasePath: undefined as never,
  registration: undefined as never,
};

/** The static options determine controllers and providers; a factory may return the others. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<AuthSettings>({
  moduleName: 'Auth',
})
  .setClassMethodName('forRoot')
  .setExtras<AuthStaticOptions>(extras, (definition, options) => {
    const statics = resolveStaticOptions(options);
    return {
      ...definition,
      global: true,
      controllers: [authController(statics)],
      providers: [
        ...(definition.providers ?? []),
        { provide: AUTH_STATIC_OPTIONS, useValue: statics },
        { provide: RANDOM_SECRET, useValue: randomBytes(48).toString('base64') },
        ...userProviders(statics),
      ],
    };
  })
  .build();

/**
 * Provides the TypeORM repository of the users instead of importing `TypeOrmModule.forFeature`, so that a missing data
 * source leads to a sentence of ours. `forFeature` is still called, because it registers the entity for `autoLoadEntities`.
 */
function userProviders({ repositoryClass, userClass }: ResolvedStaticOptions): Provider[] {
  const table = getRepositoryToken(userClass);
  const dataSource = { token: DataSource, optional: true };
  const providers: Provider[] = [];
  if (isEntity(userClass)) {
    TypeOrmModule.forFeature([userClass]);
    providers.push({
      provide: table,
      inject: [dataSource],
      useFactory: (source?: DataSource) => findUserTable(userClass, source),
    });
  }
  if (repositoryClass) return [...providers, { provide: UserRepository, useClass: repositoryClass }];
  return [
    ...providers,
    {
      provide: UserRepository,
      inject: [table, dataSource],
      useFactory: (users: Repository<AuthUser>, source: DataSource) => new TypeOrmUserRepository(users, source),
    },
  ];
}
