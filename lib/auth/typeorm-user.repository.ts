import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import { DatabaseUnavailable, databaseFailureOf } from '../entities/database-errors.js';
import { describeEntity } from '../entities/entity-schema.js';
import type { ValueType } from '../entities/value-types.js';
import type { AuthUser } from './auth-user.js';
import { InvalidUserError } from './user-checks.js';
import { DuplicateUserError, UserRepository, type LoginField, type UserFields } from './user.repository.js';

const RECORD = 'record';

/** Keeps users in the table of the application's user entity. */
export class TypeOrmUserRepository extends UserRepository {
  private readonly users: Repository<AuthUser>;
  private readonly key: ValueType;

  constructor(
    private readonly userClass: new () => AuthUser,
    dataSource: DataSource,
  ) {
    super();
    this.users = dataSource.getRepository(userClass);
    this.key = describeEntity(this.users.metadata, dataSource).id.type;
  }

  async findById(id: string): Promise<AuthUser | null> {
    const key = this.readId(id);
    return key === undefined ? null : this.one(this.query().where(`${RECORD}.id = :key`, { key }));
  }

  async findByLogin(field: LoginField, value: string): Promise<AuthUser | null> {
    const query = this.query().addSelect(`${RECORD}.password`).where(`${RECORD}.${field} = :value`, { value });
    const user = await this.one(query);
    // A collation may call two spellings equal.
    return user?.[field] === value ? user : null;
  }

  async create(fields: UserFields): Promise<AuthUser> {
    const user = this.users.create(fields as object);
    const { identifiers } = await this.write(fields, undefined, () =>
      this.users.createQueryBuilder().insert().values(user).execute(),
    );
    // It is stored: who tried again would find it taken.
    const stored = await this.findById(String(identifiers[0]?.['id'])).catch(unlessBusy);
    return stored ?? user;
  }

  async update(id: string, fields: UserFields): Promise<AuthUser | null> {
    const key = this.readId(id);
    if (key === undefined) return null;
    const changes = Object.assign(Object.create(this.userClass.prototype as object) as AuthUser, fields);
    await this.write(fields, id, () =>
      this.users.createQueryBuilder().update().set(changes).where({ id: key }).execute(),
    );
    return this.findById(id);
  }

  private query(): SelectQueryBuilder<AuthUser> {
    return this.users.createQueryBuilder(RECORD);
  }

  private readId(text: string): unknown {
    const reading = this.key.readText(text);
    return 'value' in reading ? reading.value : undefined;
  }

  /** Some drivers give every 64-bit integer as text. */
  private async one(query: SelectQueryBuilder<AuthUser>): Promise<AuthUser | null> {
    const user = await query.getOne().catch((error: unknown) => {
      throw databaseFailureOf(error) === 'unavailable' ? new DatabaseUnavailable() : error;
    });
    return user && Object.assign(user, { id: this.key.write(user.id) });
  }

  /** A refused write says that some constraint was broken; which value is taken is then looked up. */
  private async write<R>(fields: UserFields, id: string | undefined, write: () => Promise<R>): Promise<R> {
    try {
      return await write();
    } catch (error) {
      const refusal = databaseFailureOf(error);
      if (refusal === 'conflict') await this.refuseTaken(fields, id);
      if (refusal === 'conflict' || refusal === 'invalid')
        throw new InvalidUserError(['the database does not take these values']);
      if (refusal === 'unavailable') throw new DatabaseUnavailable();
      // The error of TypeORM holds the parameters, and so the hash of the password: it goes no further.
      // oxlint-disable-next-line preserve-caught-error -- as a cause it would go further
      throw new Error(`Users cannot be stored: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async refuseTaken(fields: UserFields, id: string | undefined): Promise<void> {
    for (const field of this.uniqueFields()) {
      const value = (fields as Record<string, unknown>)[field];
      if (value == null) continue;
      const taken = await this.one(this.query().where(`${RECORD}.${field} = :value`, { value }));
      if (taken && String(taken.id) !== id) throw new DuplicateUserError(field, String(value));
    }
  }

  private uniqueFields(): string[] {
    const { uniques, indices } = this.users.metadata;
    const unique = [...uniques, ...indices.filter(({ isUnique }) => isUnique)].filter(
      ({ columns }) => columns.length === 1,
    );
    return unique.flatMap(({ columns }) => columns.map(({ propertyPath }) => propertyPath));
  }
}

function unlessBusy(error: unknown): null {
  if (error instanceof DatabaseUnavailable) return null;
  throw error;
}
