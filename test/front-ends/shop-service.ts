/** A shop with `accessEndpoint()`: resources with roles, an owner, a scope and permissions of fields, for the tests of what a user may do. */
import { TypeOrmModule } from '@nestjs/typeorm';
import { accessEndpoint, AuthModule, type AuthOptions, AuthUser, CrudModule, UserAccounts } from 'declarest';
import { Column, DataSource, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { type Platform, type RunningApp, startApp } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { PASSWORD } from './admin-service.js';

@Entity()
class Customer extends AuthUser {}

@Entity()
class Lamp {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @Column('integer', { default: 5 }) cost!: number;
}

@Entity()
class Purchase {
  @PrimaryGeneratedColumn() id!: number;
  @Column('integer') amount!: number;
  @Column('integer') customerId!: number;
}

@Entity()
class Rating {
  @PrimaryGeneratedColumn() id!: number;
  @Column('integer') stars!: number;
  @Column('integer') customerId!: number;
  @ManyToOne(() => Lamp, { nullable: false }) lamp!: Lamp;
}

@Entity()
class Letter {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @Column({ default: false }) sent!: boolean;
}

const AUTHENTICATED = { read: 'authenticated', create: 'authenticated', update: 'authenticated' } as const;

export interface Shop extends RunningApp {
  /** Base of the resources. */
  readonly api: string;
  readonly accounts: UserAccounts;
}

/** Two users ann and bob, sam of the staff, and the administrator eve: `ann@example.com`, with the ids 1 to 4. */
export async function startShop(platform: Platform, auth: Partial<AuthOptions> = {}): Promise<Shop> {
  const database = await createDatabase();
  const pages = { enablePagination: true } as const;
  const running = await startApp(
    platform,
    {
      imports: [
        TypeOrmModule.forRoot(database.options),
        AuthModule.forRoot({
          userClass: Customer,
          jwtSecret: TEST_SECRET,
          bcryptRounds: 4,
          roleHierarchy: { ADMIN: ['STAFF'] },
          plugins: [accessEndpoint()],
          ...auth,
        }),
        CrudModule.forFeature(
          {
            entity: Lamp,
            endpoint: '/api/lamps',
            ...pages,
            filterableFields: ['name', 'cost'],
            sortableFields: ['name'],
            fieldPermissions: { cost: { read: ['STAFF'], write: ['ADMIN'] } },
            access: { read: 'public', create: ['STAFF'], update: ['STAFF'], delete: ['ADMIN'] },
          },
          {
            entity: Purchase,
            endpoint: '/api/purchases',
            ...pages,
            owner: { field: 'customerId', except: ['STAFF'] },
            access: { ...AUTHENTICATED, delete: ['ADMIN'] },
          },
          {
            entity: Rating,
            endpoint: '/api/lamps/:lampId/ratings',
            ...pages,
            includableRelations: ['lamp'],
            owner: 'customerId',
            access: { read: 'public', create: 'authenticated', update: 'authenticated', delete: 'authenticated' },
          },
          {
            entity: Letter,
            endpoint: '/api/letters',
            ...pages,
            // Users read all letters, and only the staff changes one that is sent.
            scope: ({ user, operation }) =>
              operation.startsWith('find') || user?.roles.some((role) => role !== 'USER') ? true : { sent: false },
            access: { ...AUTHENTICATED, delete: 'authenticated' },
          },
        ),
      ],
    },
    { onClose: database.drop },
  );
  const accounts = running.app.get(UserAccounts, { strict: false });
  const users = { ann: 'USER', bob: 'USER', sam: 'STAFF', eve: 'ADMIN' };
  for (const [name, role] of Object.entries(users))
    await accounts.create({ email: `${name}@example.com`, password: PASSWORD, role });
  const dataSource = running.app.get(DataSource, { strict: false });
  await dataSource.getRepository(Lamp).save([{ name: 'Desk' }, { name: 'Wall' }]);
  await dataSource.getRepository(Purchase).save([1, 2].map((customerId) => ({ amount: 1, customerId })));
  await dataSource.getRepository(Rating).save([1, 2].map((customerId) => ({ stars: 4, customerId, lamp: { id: 1 } })));
  await dataSource.getRepository(Letter).save([
    { text: 'draft', sent: false },
    { text: 'gone', sent: true },
  ]);
  return { ...running, api: `${running.url}/api`, accounts };
}
