import { ConflictException, type Provider, type Type } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type EntityManager, IsNull, type Repository } from 'typeorm';
import { ConnectionQueues, type ConnectionQueue } from '../../database/connections.js';
import { lockRows } from '../../database/locked-rows.js';
import { readPrimary } from '../../database/database-time.js';
import { takenFields } from '../../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf, isLostRace } from '../../entities/database-errors.js';
import { isEntity } from '../../entities/declared-entities.js';
import { describeEntity, type EntityDescription } from '../../entities/entity-schema.js';
import { refuseAuthOption } from '../../options/option-table.js';
import { Application } from '../../routes/application.js';
import type { AuthUser } from './auth-user.js';
import { hideHashes } from './hidden-columns.js';
import { InvalidUserError } from './user-checks.js';
import { DuplicateUserError } from './duplicate-user.js';
import { UserRepository } from './user.repository.js';
import type { ExpectedFields, LoginField, UserFields, UserList, UserQuery } from './user.repository.js';

interface UserClasses {
  readonly repositoryClass: Type<UserRepository> | undefined;
  readonly userClass: Type<AuthUser>;
}

/** Provides the repository of the users. A missing data source leads to a clear message, unlike with `forFeature`. */
export function userProviders({ repositoryClass, userClass }: UserClasses): Provider[] {
  const dataSource = { token: DataSource, optional: true };
  const table = getRepositoryToken(userClass);
  const userRepository = repositoryClass
    ? { provide: UserRepository, useClass: repositoryClass }
    : {
        provide: UserRepository,
        inject: [table, dataSource, Application],
        useFactory: (users: Repository<AuthUser>, source: DataSource, application: Application) => {
          const connections = application.stateOf(ConnectionQueues).connectionsOf(source);
          return new TypeOrmUserRepository(users, describeEntity(users.metadata, source), connections);
        },
      };
  const hiding = { provide: HIDING, inject: [UserRepository, Application], useFactory: hideHashes };
  const providers: Provider[] = repositoryClass ? [userRepository, hiding] : [userRepository];
  if (!isEntity(userClass)) return providers;
  // Registers the entity for `autoLoadEntities`.
  TypeOrmModule.forFeature([userClass]);
  const useFactory = (source?: DataSource): Repository<AuthUser> => {
    if (source?.hasMetadata(userClass)) return source.getRepository(userClass);
    return refuseAuthOption(
      'userClass',
      'an entity of the default TypeORM data source',
      `\`${userClass.name}\` ${source ? 'that the data source does not know' : 'without a data source'}`,
      'import TypeOrmModule.forRoot with `autoLoadEntities: true`, or set a repositoryClass and remove @Entity()',
    );
  };
  return [{ provide: table, inject: [dataSource], useFactory }, ...providers];
}

const HIDING = Symbol('declarest.hiddenColumns');
const select = (users: Repository<AuthUser>) => users.createQueryBuilder('record').cache(false);

class TypeOrmUserRepository extends UserRepository {
  constructor(
    private readonly users: Repository<AuthUser>,
    private readonly schema: EntityDescription,
    private readonly connections: ConnectionQueue,
  ) {
    super();
  }

  async findById(id: string): Promise<AuthUser | null> {
    return this.findOne('id', this.keyOf(id));
  }

  override async findWithHash(id: string): Promise<AuthUser | null> {
    return this.findOne('id', this.keyOf(id), true);
  }

  async findByLogin(field: LoginField, value: string): Promise<AuthUser | null> {
    const user = await this.findOne(field, value, true);
    // A database collation may treat two different spellings as equal.
    return user?.[field] === value ? user : null;
  }

  async create(fields: UserFields): Promise<AuthUser> {
    const user = this.users.create(fields as object);
    const { identifiers } = await this.run((users) =>
      users
        .createQueryBuilder()
        .insert()
        .values(user)
        .execute()
        .catch((error: unknown) => this.fail(error, fields)),
    );
    const stored = await this.findById(String(identifiers[0]?.['id'])).catch((error: unknown) => {
      // The user is stored by now: a 503 would make the client register again, and find the login taken.
      if (!(error instanceof DatabaseUnavailable)) throw error;
    });
    return stored ?? user;
  }

  update(id: string, fields: UserFields): Promise<AuthUser | null> {
    return this.updateIf(id, {}, fields);
  }

  override async updateIf(id: string, expected: Partial<ExpectedFields>, fields: UserFields): Promise<AuthUser | null> {
    const key = this.keyOf(id);
    if (key === undefined) return null;
    const where = { id: key, ...expected, ...(expected.email === null && { email: IsNull() }) };
    return (await this.run((users) => this.updateWhere(users, where, fields))) ? this.findById(id) : null;
  }

  override async list({ role, active, text, page = 1, size = 20 }: UserQuery): Promise<UserList> {
    const start = (page - 1) * size;
    const users = this.connections.manager?.withRepository(this.users) ?? this.users;
    const query = select(users).orderBy('record.id').skip(start).take(size);
    if (role !== undefined) query.andWhere('record.role = :role', { role });
    if (active !== undefined) query.andWhere('record.active = :active', { active });
    if (text !== undefined) {
      const names = ['email', 'username', 'firstName', 'lastName'].map(
        (name) => `LOWER(record.${name}) LIKE LOWER(:text) ESCAPE '!'`,
      );
      query.andWhere(`(${names.join(' OR ')})`, { text: `%${text.replace(/[!%_]/g, '!$&')}%` });
    }
    const [found, total] = await this.connections.statement(() =>
      query.getManyAndCount().catch((error: unknown) => this.fail(error, {})),
    );
    return { users: found.map((user) => this.withId(user)), total };
  }

  override remove(id: string): Promise<boolean> {
    const key = this.keyOf(id);
    return key === undefined ? Promise.resolve(false) : this.run((users) => this.removeBy(users, key));
  }

  /** No soft delete: the login must be free again. */
  override async undoCreate(id: string): Promise<void> {
    const key = this.keyOf(id);
    if (key !== undefined) await this.run((users) => users.delete({ id: key as never }));
  }

  override updateUnlessLast(id: string, fields: UserFields, role: string): Promise<AuthUser | null | 'last'> {
    return this.unlessLast(id, role, async (users, key) => {
      await this.updateWhere(users, { id: key }, fields);
      const user = await select(users).where({ id: key }).getOne();
      return user && this.withId(user);
    });
  }

  override async removeUnlessLast(id: string, role: string): Promise<boolean | 'last'> {
    return (await this.unlessLast(id, role, (users, key) => this.removeBy(users, key))) ?? false;
  }

  /** Locks the active users with the role, so that two requests at once do not take the last two. */
  private unlessLast<R>(
    id: string,
    role: string,
    work: (users: Repository<AuthUser>, key: unknown) => Promise<R>,
  ): Promise<R | null | 'last'> {
    const key = this.keyOf(id);
    if (key === undefined) return Promise.resolve(null);
    const run = async (manager: EntityManager) => {
      const users = manager.withRepository(this.users);
      const query = select(users).where({ role, active: true }).orderBy('record.id');
      const found = await lockRows(this.connections, manager, query, 'active');
      // The collation of MySQL ignores case; roles do not.
      const ids = found.filter((user) => user.role === role).map((user) => String(user.id));
      if (ids.length === 1 && ids[0] === String(key)) return 'last';
      return work(users, key);
    };
    return this.connections.settled(run).catch(this.refuse);
  }

  /** @returns whether a row was updated */
  private async updateWhere(users: Repository<AuthUser>, where: object, fields: UserFields): Promise<boolean> {
    // TypeORM calls `@BeforeUpdate` listeners on instances only. A constructor could set further columns.
    const { prototype } = users.metadata.target as Type<AuthUser>;
    const changes = Object.assign(Object.create(prototype as object) as AuthUser, fields);
    const update = users.createQueryBuilder().update().set(changes).where(where);
    const { affected } = await update.execute().catch((error: unknown) => this.fail(error, fields));
    return affected !== 0;
  }

  private async removeBy(users: Repository<AuthUser>, id: unknown): Promise<boolean> {
    const where = { id: id as never };
    const removal = users.metadata.deleteDateColumn ? users.softDelete(where) : users.delete(where);
    const { affected } = await removal.catch(this.refuse);
    return affected !== 0;
  }

  /** Some drivers return every 64-bit integer as text. */
  private withId(user: AuthUser): AuthUser {
    return Object.assign(user, { id: this.schema.key.write(user.id) });
  }

  /** @returns `undefined` for text that is no id */
  private keyOf(id: string): unknown {
    const key = this.schema.key.readText(id);
    return 'value' in key ? key.value : undefined;
  }

  private async findOne(field: 'id' | LoginField, value: unknown, withHash = false): Promise<AuthUser | null> {
    if (value === undefined) return null;
    const read = (manager: EntityManager): Promise<AuthUser | null> => {
      const query = select(manager.withRepository(this.users));
      if (withHash) query.addSelect('record.password');
      return readPrimary(query.where(`record.${field} = :value`, { value })).getOne();
    };
    const user = await this.connections.onPrimary(read).catch((error: unknown) => {
      // No user has a login that the column cannot hold.
      if (databaseFailureOf(error) !== 'invalid') throw error;
      return null;
    });
    return user && this.withId(user);
  }

  /** Runs a write. On SQLite, it waits for an open transaction: it would be rolled back with that one. */
  private run<R>(work: (users: Repository<AuthUser>) => Promise<R>): Promise<R> {
    return this.connections.change((manager) => work(manager.withRepository(this.users)));
  }

  private fail(error: unknown, fields: UserFields): never {
    const failure = databaseFailureOf(error);
    // A transaction is repeated.
    if (this.connections.isCluster && isLostRace(error)) throw error;
    if (failure === 'unavailable') throw this.connections.unavailable(error);
    if (failure === 'conflict') {
      const [field = '', ...others] = takenFields(error, this.schema);
      if (others.length === 0 && fields[field] != null) throw new DuplicateUserError(field, String(fields[field]));
    }
    if (failure === 'conflict' || failure === 'invalid')
      throw new InvalidUserError(['the database refused these values']);
    // TypeORM's error contains the parameters, and so the password hash.
    throw new Error(`The user could not be stored: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** @throws 503, and 409 for a user that other records refer to, which a deferred constraint says at the commit */
  private readonly refuse = (error: unknown): never => {
    const failure = databaseFailureOf(error);
    if (isLostRace(error)) throw error;
    if (failure === 'unavailable') throw this.connections.unavailable(error);
    if (failure === 'conflict') throw new ConflictException('Other records refer to this user');
    throw error;
  };
}
