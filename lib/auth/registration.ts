/** What a client may give to register: the package's fields, and the application's columns that are listed. */
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { InvalidOptionError } from '../options/invalid-option.js';
import { describeEntity, type Field } from '../entities/entity-schema.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { Passwords } from './passwords.js';
import { storeUser } from './store-user.js';
import { REGISTRATION_FIELDS, USER_CHECKS, type Check } from './user-checks.js';
import { UserRepository } from './user.repository.js';

@Injectable()
export class Registration implements OnModuleInit {
  private checks: Readonly<Record<string, Check>> = {};
  private required: readonly string[] = [];

  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    private readonly moduleRef: ModuleRef,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  onModuleInit(): void {
    const { registrationFields, loginField } = this.options;
    const columns = this.ownColumns();
    const checkOf = (name: string): Check => {
      const column = columns?.find((field) => field.name === name);
      if (columns && !column) refuse(columns, name);
      return column ? columnCheck(column) : (value) => ({ value });
    };
    const own = REGISTRATION_FIELDS.map((name) => [name, USER_CHECKS[name] as Check] as const);
    this.checks = Object.fromEntries([...own, ...registrationFields.map((name) => [name, checkOf(name)] as const)]);
    const demanded = (columns ?? [])
      .filter(({ nullable, hasDefault }) => !nullable && !hasDefault)
      .map(({ name }) => name);
    this.required = [loginField, 'password', ...demanded];
    const missing = demanded.filter((name) => !registrationFields.includes(name));
    if (this.options.registration && missing.length > 0)
      throw new InvalidOptionError(
        'AuthModule option `registrationFields`',
        `the columns of ${this.options.userClass.name} that must have a value`,
        `none for ${missing.join(', ')}`,
        'list them, make them nullable, give them a default, or set registration to false',
      );
  }

  register(input: Readonly<Record<string, unknown>>): Promise<AuthUser> {
    return storeUser(this.users, this.passwords, input, this.checks, this.required);
  }

  /** What the application added to its user; `undefined` where users are not kept with TypeORM. */
  private ownColumns(): readonly Field[] | undefined {
    const dataSource = this.dataSource();
    if (!dataSource?.hasMetadata(this.options.userClass)) return undefined;
    const { fields } = describeEntity(dataSource.getMetadata(this.options.userClass), dataSource);
    return fields.filter(({ name, insertable }) => insertable && !Object.hasOwn(USER_CHECKS, name));
  }

  private dataSource(): DataSource | undefined {
    try {
      return this.moduleRef.get(DataSource, { strict: false });
    } catch {
      return undefined;
    }
  }
}

function columnCheck({ type }: Field): Check {
  return (value) => {
    const reading = type.read(value);
    return 'value' in reading ? reading : { problem: `expected ${reading.expected}` };
  };
}

function refuse(columns: readonly Field[], name: string): never {
  const usable = columns.map((field) => field.name).join(', ') || 'none are there';
  throw new InvalidOptionError(
    'AuthModule option `registrationFields`',
    `columns that the user class adds (${usable})`,
    JSON.stringify(name),
    'correct or remove it',
  );
}
