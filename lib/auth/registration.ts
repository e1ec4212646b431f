import { Inject, Injectable, Optional } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { describeEntity, type Field } from '../entities/entity-schema.js';
import type { JsonSchema } from '../entities/json-schema.js';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { UserAccounts, type NewUser } from './user-accounts.js';
import { acceptAny, checkUser, REGISTRATION_FIELDS, USER_CHECKS, USER_SCHEMAS, type Check } from './user-checks.js';

const OPTION = 'AuthModule option `registrationFields`';
const PACKAGE_FIELDS = ['id', ...Object.keys(USER_CHECKS)];

@Injectable()
export class Registration {
  private readonly checks: Readonly<Record<string, Check>>;
  readonly required: readonly string[];
  /** What the fields accept, for the document of the API. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;

  /** @throws InvalidOptionError for a field that the user class does not add, and for a mandatory column not listed */
  constructor(
    private readonly accounts: UserAccounts,
    @Inject(AUTH_OPTIONS) { registration, registrationFields, loginField, userClass }: ResolvedAuthOptions,
    @Optional() @Inject(DataSource) dataSource?: DataSource,
  ) {
    // Without columns, the `repositoryClass` stores the users outside TypeORM, and decides about the values.
    const columns = dataSource?.hasMetadata(userClass)
      ? describeEntity(dataSource.getMetadata(userClass), dataSource).fields.filter(
          ({ name, insertable }) => insertable && !PACKAGE_FIELDS.includes(name),
        )
      : undefined;
    const refused = registrationFields.filter(
      (name) => PACKAGE_FIELDS.includes(name) || columns?.every((column) => column.name !== name),
    );
    if (refused.length > 0)
      throw new InvalidOptionError(
        OPTION,
        `names of columns that ${userClass.name} adds${columns ? ` (${namesOf(columns).join(', ') || 'none'})` : ''}`,
        refused.map(describe).join(', '),
        'correct or remove them: clients may always send the fields of AuthUser except id, role and active',
      );
    const required = namesOf((columns ?? []).filter(({ nullable, hasDefault }) => !nullable && !hasDefault));
    const missing = required.filter((name) => !registrationFields.includes(name));
    if (registration && missing.length > 0) {
      const expected = `a list of all mandatory columns of ${userClass.name}`;
      const advice = 'add them, make them nullable, give them a default, or set registration to false';
      throw new InvalidOptionError(OPTION, expected, `a list without ${missing.join(', ')}`, advice);
    }
    this.required = [loginField, 'password', ...required];
    const checkOf = (name: string): Check => columns?.find((column) => column.name === name)?.type.read ?? acceptAny;
    this.checks = Object.fromEntries([
      ...REGISTRATION_FIELDS.map((name) => [name, USER_CHECKS[name]]),
      ...registrationFields.map((name) => [name, checkOf(name)]),
    ]);
    const columnOf = (name: string): Field | undefined => columns?.find((column) => column.name === name);
    this.schemas = Object.fromEntries([
      ...REGISTRATION_FIELDS.map((name) => [name, USER_SCHEMAS[name]]),
      ...registrationFields.map((name) => [name, columnOf(name)?.type.schemas.body ?? {}]),
    ]) as Record<string, JsonSchema>;
  }

  async register(input: Readonly<Record<string, unknown>>): Promise<AuthUser> {
    return this.accounts.create(checkUser(input, this.checks, this.required) as unknown as NewUser);
  }
}

const namesOf = (columns: readonly Field[]): string[] => columns.map(({ name }) => name);
