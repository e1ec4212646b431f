/** A shop with `accessEndpoint()`: resources with roles, an owner, a scope and permissions of fields, for the tests of what a user may do. */
import { accessEndpoint, type AuthOptions, AuthUser, CrudModule } from 'declarest';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Platform } from '../harness/platforms.js';
import { PAGES, PASSWORD, type Service, startService } from './admin-service.js';

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

/** Two users ann and bob, sam of the staff, and the administrator eve: `ann@example.com`, with the ids 1 to 4. */
export async function startShop(platform: Platform, auth: Partial<AuthOptions> = {}): Promise<Service> {
  const roleHierarchy = { ADMIN: ['STAFF'] };
  const service = await startService(
    platform,
    { userClass: Customer, roleHierarchy, plugins: [accessEndpoint()], ...auth },
    CrudModule.forFeature(
      {
        entity: Lamp,
        endpoint: '/api/lamps',
        ...PAGES,
        filterableFields: ['name', 'cost'],
        sortableFields: ['name'],
        fieldPermissions: { cost: { read: ['STAFF'], write: ['ADMIN'] } },
        access: { read: 'public', create: ['STAFF'], update: ['STAFF'], delete: ['ADMIN'] },
      },
      {
        entity: Purchase,
        endpoint: '/api/purchases',
        ...PAGES,
        owner: { field: 'customerId', except: ['STAFF'] },
        access: { ...AUTHENTICATED, delete: ['ADMIN'] },
      },
      {
        entity: Rating,
        endpoint: '/api/lamps/:lampId/ratings',
        ...PAGES,
        includableRelations: ['lamp'],
        owner: 'customerId',
        access: { read: 'public', create: 'authenticated', update: 'authenticated', delete: 'authenticated' },
      },
      {
        entity: Letter,
        endpoint: '/api/letters',
        ...PAGES,
        // Users read all letters, and only the staff changes one that is sent.
        scope: ({ user, operation }) =>
          operation.startsWith('find') || user?.roles.some((role) => role !== 'USER') ? true : { sent: false },
        access: { ...AUTHENTICATED, delete: 'authenticated' },
      },
    ),
  );
  const { accounts, dataSource } = service;
  const users = { ann: 'USER', bob: 'USER', sam: 'STAFF', eve: 'ADMIN' };
  for (const [name, role] of Object.entries(users))
    await accounts.create({ email: `${name}@example.com`, password: PASSWORD, role });
  await dataSource.getRepository(Lamp).save([{ name: 'Desk' }, { name: 'Wall' }]);
  await dataSource.getRepository(Purchase).save([1, 2].map((customerId) => ({ amount: 1, customerId })));
  await dataSource.getRepository(Rating).save([1, 2].map((customerId) => ({ stars: 4, customerId, lamp: { id: 1 } })));
  await dataSource.getRepository(Letter).save([
    { text: 'draft', sent: false },
    { text: 'gone', sent: true },
  ]);
  return service;
}
