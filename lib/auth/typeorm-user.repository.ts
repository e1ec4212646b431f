import type { Type } from '@nestjs/common';
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import { DatabaseUnavailable, databaseFailureOf } from '../entities/database-errors.js';
import { describeEntity } from '../entities/entity-schema.js';
import type { ValueType } from '../entities/value-types.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import type { AuthUser } from './auth-user.js';
import { InvalidUserError } from './user-checks.js';
import { DuplicateUserError, UserRepository, type LoginField, type UserFields } from './user.repository.js';

const ALIAS = 'record';

/** @throws InvalidOptionError without a data source, or when it does not know the user class */
export function findUserTable(userClass: Type<AuthUser>, dataSource: DataSource | undefined): Repository<AuthUser> {
  if (dataSource?.hasMetadata(userClass)) return dataSource.getRepository(userClass);
  throw new InvalidOptionError(
    'AuthModule option `userClass`',
    'an entity of the default TypeORM data source',
    `\`${userClass.name}\` ${dataSource ? 'that the data source does not know' : 'without a data source'}`,
    dataSource
      ? 'set `autoLoadEntities: true` in TypeOrmModule.forRoot, or add the class to its `entities`'
      : 'import TypeOrmModule.forRoot(…) in the root module, or set a repositoryClass and remove @Entity()',
  );
}

/** Stores users in the table of the application's user entity. */
export class TypeOrmUserRepository extends UserRepository {
  private readonly idType: ValueType;

  constructor(
    private readonly users: Repository<AuthUser>,
    dataSource: DataSource,
  ) {
    super();
    this.idType = describeEntity(users.metadata, dataSource).id.type;
  }

  async findById(id: string): Promise<AuthUser | null> {
    const key = this.parseId(id);
    return key === undefined ? null : this.findOne(this.query().where(`${ALIAS}.id = :key`, { key }));
  }

  async findByLogin(field: LoginField, value: string): Promise<AuthUser | null> {
    const query = this.query().addSelect(`${ALIAS}.password`).where(`${ALIAS}.${field} = :value`, { value });
    const user = await this.findOne(query);
    // A database collation may treat two different spellings as equal.
    return user?.[field] === value ? user : null;
  }

  async create(fields: UserFields): Promise<AuthUser> {
    const user = this.users.create(fields as object);
    const { identifiers } = await this.write(fields, undefined, () =>
      this.users.createQueryBuilder().insert().values(user).execute(),
    );
    // The user is stored by now: a 503 would make the client register again, and find the login taken.
    const stored = await this.findById(String(identifiers[0]?.['id'])).catch(ignoreBusy);
    return stored ?? user;
  }

  async update(id: string, fields: UserFields): Promise<AuthUser | null> {
    const key = this.parseId(id);
    if (key === undefined) return null;
    // TypeORM calls `@BeforeUpdate` listeners on instances only. A constructor could set further columns.
    const { prototype } = this.users.metadata.target as Type<AuthUser>;
    const changes = Object.assign(Object.create(prototype as object) as AuthUser, fields);
    await this.write(fields, id, () =>
      this.users.createQueryBuilder().update().set(changes).where({ id: key }).execute(),
    );
    return this.findById(id);
  }

  private query(): SelectQueryBuilder<AuthUser> {
    return this.users.createQueryBuilder(ALIAS);
  }

  private parseId(text: string): unknown {
    const result = this.idType.readText(text);
    return 'value' in result ? result.value : undefined;
  }

  /** Converts the id, because some drivers return every 64-bit integer as text. */
  private async findOne(query: SelectQueryBuilder<AuthUser>): Promise<AuthUser | null> {
    const user = await query.getOne().catch((error: unknown) => {
      throw databaseFailureOf(error) === 'unavailable' ? new DatabaseUnavailable() : error;
    });
    return user && Object.assign(user, { id: this.idType.write(user.id) });
  }

  /** Runs a statement. After a constraint violation it looks up which value is taken. */
  private async write<R>(fields: UserFields, id: string | undefined, execute: () => Promise<R>): Promise<R> {
    try {
      return await execute();
    } catch (error) {
      const refusal = databaseFailureOf(error);
      if (refusal === 'unavailable') throw new DatabaseUnavailable();
      if (refusal === 'conflict') await this.refuseTaken(fields, id);
      if (refusal === 'conflict' || refusal === 'invalid')
        throw new InvalidUserError(['the database refused these values']);
      // TypeORM's error contains the parameters, and so the password hash.
      // oxlint-disable-next-line preserve-caught-error -- as a cause it would be logged
      throw new Error(`The user could not be stored: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async refuseTaken(fields: UserFields, id: string | undefined): Promise<void> {
    for (const field of this.uniqueFields()) {
      const value = fields[field];
      if (value == null) continue;
      const taken = await this.findOne(this.query().where(`${ALIAS}.${field} = :value`, { value }));
      if (taken && String(taken.id) !== id) throw new DuplicateUserError(field, String(value));
    }
  }

  private uniqueFields(): string[] {
    const { uniques, indices } = this.users.metadata;
    return [...uniques, ...indices.filter(({ isUnique }) => isUnique)]
      .filter(({ columns }) => columns.length === 1)
      .flatMap(({ columns }) => columns.map(({ propertyPath }) => propertyPath));
  }
}

function ignoreBusy(error: unknown): null {
  if (error instanceof DatabaseUnavailable) return null;
  throw error;
}
