import type { Type } from '@nestjs/common';
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import { findConflict } from '../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf } from '../entities/database-errors.js';
import { describeEntity, type EntityDescription } from '../entities/entity-schema.js';
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
  private readonly schema: EntityDescription;

  constructor(
    private readonly users: Repository<AuthUser>,
    dataSource: DataSource,
  ) {
    super();
    this.schema = describeEntity(users.metadata, dataSource);
  }

  async findById(id: string): Promise<AuthUser | null> {
    const key = this.schema.id.type.readText(id);
    return 'value' in key ? this.findOne(this.query().where(`${ALIAS}.id = :id`, { id: key.value })) : null;
  }

  async findByLogin(field: LoginField, value: string): Promise<AuthUser | null> {
    const query = this.query().addSelect(`${ALIAS}.password`).where(`${ALIAS}.${field} = :value`, { value });
    const user = await this.findOne(query);
    // A database collation may treat two different spellings as equal.
    return user?.[field] === value ? user : null;
  }

  async create(fields: UserFields): Promise<AuthUser> {
    const user = this.users.create(fields as object);
    const insert = this.users.createQueryBuilder().insert().values(user);
    const { identifiers } = await insert.execute().catch((error: unknown) => this.fail(error, 'create', fields));
    try {
      return (await this.findById(String(identifiers[0]?.['id']))) ?? user;
    } catch (error) {
      // The user is stored by now: a 503 would make the client register again, and find the login taken.
      if (error instanceof DatabaseUnavailable) return user;
      throw error;
    }
  }

  async update(id: string, fields: UserFields): Promise<AuthUser | null> {
    const key = this.schema.id.type.readText(id);
    if (!('value' in key)) return null;
    // TypeORM calls `@BeforeUpdate` listeners on instances only. A constructor could set further columns.
    const { prototype } = this.users.metadata.target as Type<AuthUser>;
    const changes = Object.assign(Object.create(prototype as object) as AuthUser, fields);
    const update = this.users.createQueryBuilder().update().set(changes).where({ id: key.value });
    await update.execute().catch((error: unknown) => this.fail(error, 'update', fields));
    return this.findById(id);
  }

  private query(): SelectQueryBuilder<AuthUser> {
    return this.users.createQueryBuilder(ALIAS);
  }

  /** Converts the id, because some drivers return every 64-bit integer as text. */
  private async findOne(query: SelectQueryBuilder<AuthUser>): Promise<AuthUser | null> {
    const user = await query.getOne().catch((error: unknown) => {
      throw databaseFailureOf(error) === 'unavailable' ? new DatabaseUnavailable() : error;
    });
    return user && Object.assign(user, { id: this.schema.id.type.write(user.id) });
  }

  private async fail(error: unknown, operation: 'create' | 'update', fields: UserFields): Promise<never> {
    const failure = databaseFailureOf(error);
    if (failure === 'unavailable') throw new DatabaseUnavailable();
    if (failure === 'conflict') {
      const conflict = await findConflict(error, { operation, schema: this.schema, manager: this.users.manager });
      const [field, ...others] = conflict.kind === 'taken' ? conflict.fields : [];
      if (field !== undefined && others.length === 0) throw new DuplicateUserError(field, String(fields[field]));
    }
    if (failure === 'conflict' || failure === 'invalid')
      throw new InvalidUserError(['the database refused these values']);
    // TypeORM's error contains the parameters, and so the password hash.
    throw new Error(`The user could not be stored: ${error instanceof Error ? error.message : String(error)}`);
  }
}
