/** Which fields clients may send to register, and to change their own profile. */
import { Inject, Injectable, Optional } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CONVERTIBLE, sentTransformer } from '../../entities/class-transformer.js';
import { describeEntity, type Field } from '../../entities/entity-schema.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { describe } from '../../options/invalid-option.js';
import { refuseAuthOption } from '../../options/option-table.js';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { PasswordPolicy } from '../passwords/password-policy.js';
import type { AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { acceptAny, checkChanges, checkUser, REGISTRATION_FIELDS, USER_CHECKS } from '../users/user-checks.js';
import { USER_SCHEMAS } from '../users/user-checks.js';
import type { Check } from '../users/user-checks.js';
import { UserAccounts } from './user-accounts.js';

const PACKAGE_FIELDS = ['id', ...Object.keys(USER_CHECKS)];

type Input = Readonly<Record<string, unknown>>;
type Checks = Readonly<Record<string, Check>>;

@Injectable()
export class UserFieldRules {
  readonly checks: Readonly<Record<string, Check>>;
  /** Checks of the fields that users may change themselves. `nullable` names those of them that may be null. */
  private readonly changes: Readonly<Record<string, Check>>;
  private readonly nullable: readonly string[];
  readonly required: readonly string[];
  private readonly role: string | undefined;
  private readonly fields: readonly string[];
  private readonly transformSent: ReturnType<typeof sentTransformer>;
  /** The schemas of the fields that clients may send, for the OpenAPI document. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;

  /** @throws InvalidOptionError for a field that the user class does not add, and for a mandatory column not listed */
  constructor(
    private readonly accounts: UserAccounts,
    policy: PasswordPolicy,
    @Inject(AUTH_OPTIONS)
    { registration, registrationFields, registrationRole, loginField, userClass, setup }: ResolvedAuthOptions,
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
    if (refused.length > 0) {
      const names = columns ? ` (${namesOf(columns).join(', ') || 'none'})` : '';
      const expected = `names of columns that ${userClass.name} adds${names}`;
      const advice =
        'correct or remove them: clients may always send the fields of AuthUser except id, role and active';
      refuseAuthOption('registrationFields', expected, refused.map(describe).join(', '), advice);
    }
    const required = namesOf((columns ?? []).filter(({ nullable, hasDefault }) => !nullable && !hasDefault));
    const missing = required.filter((name) => !registrationFields.includes(name));
    if (registration && missing.length > 0) {
      const expected = `a list of all mandatory columns of ${userClass.name}`;
      const advice = 'add them, make them nullable, give them a default, or set registration to false';
      refuseAuthOption('registrationFields', expected, `a list without ${missing.join(', ')}`, advice);
    }
    this.role = registrationRole;
    this.required = [...new Set([loginField, ...setup.fields, 'password', ...required])];
    const added = registrationFields.map((name) => ({ name, ...columns?.find((column) => column.name === name) }));
    const reads = Object.fromEntries(added.map(({ name, type }) => [name, type?.read ?? acceptAny]));
    const schemas = Object.fromEntries(added.map(({ name, type }) => [name, type?.schemas.body ?? {}]));
    this.checks = { ...ofPackage(accounts.checks), ...reads };
    this.fields = registrationFields;
    this.transformSent = columns && sentTransformer(userClass);
    this.schemas = { ...ofPackage({ ...USER_SCHEMAS, password: policy.schema }), ...schemas };
    this.changes = { firstName: USER_CHECKS.firstName, lastName: USER_CHECKS.lastName, ...reads };
    this.nullable = ['firstName', 'lastName', ...namesOf(added.filter(({ nullable = true }) => nullable))];
  }

  /** @returns the changes of the own profile @throws InvalidUserError naming each wrong field */
  readChanges(input: Input): Record<string, unknown> {
    return checkChanges(...this.transform(input, this.changes), this.nullable);
  }

  async register(input: Input): Promise<AuthUser> {
    return this.accounts.store(checkUser(...this.transform(input, this.checks), this.required), this.role);
  }

  /** Applies class-transformer to the columns that the application adds. */
  private transform(input: Input, checks: Checks): [Input, Checks] {
    const sent = Object.entries(input).filter(([name]) => this.fields.includes(name));
    const changed = this.transformSent?.(Object.fromEntries(sent));
    if (!changed) return [input, checks];
    const refused = [...changed.failed].map((name): [string, Check] => [
      name,
      (value) => ({ expected: CONVERTIBLE, ...checks[name]?.(value) }),
    ]);
    return [
      { ...input, ...changed.values },
      { ...checks, ...Object.fromEntries(refused) },
    ];
  }
}

const namesOf = (columns: readonly Pick<Field, 'name'>[]): string[] => columns.map(({ name }) => name);

const ofPackage = <V>(all: Readonly<Record<string, V>>): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => REGISTRATION_FIELDS.includes(name)));
