import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeEntity, type Field } from '../entities/entity-schema.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { UserAccounts, type NewUser } from './user-accounts.js';
import { checkUser, REGISTRATION_FIELDS, USER_CHECKS, type Check } from './user-checks.js';

const OPTION = 'AuthModule option `registrationFields`';

/** Registers users from requests: accepts the package's fields, and the application's columns in `registrationFields`. */
@Injectable()
export class Registration implements OnModuleInit {
  private checks: Readonly<Record<string, Check>> = {};
  private required: readonly string[] = [];

  constructor(
    private readonly accounts: UserAccounts,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Optional() @Inject(DataSource) private readonly dataSource?: DataSource,
  ) {}

  /** @throws InvalidOptionError for a field that is not a column, and for a mandatory column that is not listed */
  onModuleInit(): void {
    const { registration, registrationFields, loginField, userClass } = this.options;
    const columns = this.addedColumns();
    const mandatory = (columns ?? []).filter(({ nullable, hasDefault }) => !nullable && !hasDefault);
    const required = mandatory.map(({ name }) => name);
    const missing = required.filter((name) => !registrationFields.includes(name));
    if (registration && missing.length > 0)
      throw new InvalidOptionError(
        OPTION,
        `a list of all mandatory columns of ${userClass.name}`,
        `a list without ${missing.join(', ')}`,
        'add them, make them nullable, give them a default, or set registration to false',
      );
    this.required = [loginField, 'password', ...required];
    this.checks = Object.fromEntries([
      ...REGISTRATION_FIELDS.map((name) => [name, USER_CHECKS[name]]),
      ...registrationFields.map((name) => [name, checkOf(name, columns)]),
    ]);
  }

  /**
   * @throws InvalidUserError naming every invalid field
   * @throws DuplicateUserError
   * @throws ServerBusy
   */
  async register(input: Readonly<Record<string, unknown>>): Promise<AuthUser> {
    return this.accounts.create(checkUser(input, this.checks, this.required) as unknown as NewUser);
  }

  /** The columns that the application adds to its user class; `undefined` when TypeORM does not store the users. */
  private addedColumns(): readonly Field[] | undefined {
    const { dataSource } = this;
    const { userClass } = this.options;
    if (!dataSource?.hasMetadata(userClass)) return undefined;
    const { fields } = describeEntity(dataSource.getMetadata(userClass), dataSource);
    return fields.filter(({ name, insertable }) => insertable && !Object.hasOwn(USER_CHECKS, name));
  }
}

/** Checks a value against its column. Without columns every value is accepted, and the `repositoryClass` decides. */
function checkOf(name: string, columns: readonly Field[] | undefined): Check {
  if (!columns) return (value) => ({ value });
  const column = columns.find((field) => field.name === name);
  if (!column)
    throw new InvalidOptionError(
      OPTION,
      `columns that the user class adds (${columns.map((field) => field.name).join(', ') || 'it adds none'})`,
      JSON.stringify(name),
      'correct or remove it',
    );
  return (value) => {
    const result = column.type.read(value);
    return 'value' in result ? result : { problem: `expected ${result.expected}` };
  };
}
