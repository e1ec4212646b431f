import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { authController } from './auth.controller.js';
import {
  AUTH_STATIC_OPTIONS,
  type AuthSettings,
  type AuthStaticOptions,
  type ResolvedStaticOptions,
} from './auth.options.js';
import { isEntity } from '../entities/declared-entities.js';
import { resolveStaticOptions } from './resolve-options.js';
import { TypeOrmUserRepository } from './typeorm-user.repository.js';
import { UserRepository } from './user.repository.js';

const undeclared: AuthStaticOptions = {
  userClass: undefined as never,
  repositoryClass: undefined as never,
  authBasePath: undefined as never,
  registration: undefined as never,
};

/** What is given statically decides controllers and imports; the rest may come from a factory. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<AuthSettings>({
  moduleName: 'Auth',
})
  .setClassMethodName('forRoot')
  .setExtras<AuthStaticOptions>(undeclared, (definition, extras) => {
    const statics = resolveStaticOptions(extras);
    return {
      ...definition,
      global: true,
      imports: [
        ...(definition.imports ?? []),
        ...(isEntity(statics.userClass) ? [TypeOrmModule.forFeature([statics.userClass])] : []),
      ],
      controllers: [authController(statics)],
      providers: [
        ...(definition.providers ?? []),
        { provide: AUTH_STATIC_OPTIONS, useValue: statics },
        userRepository(statics),
      ],
    };
  })
  .build();

function userRepository({ repositoryClass, userClass }: ResolvedStaticOptions): Provider {
  if (repositoryClass) return { provide: UserRepository, useClass: repositoryClass };
  return {
    provide: UserRepository,
    useFactory: (dataSource: DataSource) => new TypeOrmUserRepository(userClass, dataSource),
    inject: [DataSource],
  };
}
