/** A service with what generators have misread: keys, columns and options of every kind, and all plugins of logins. */
import 'reflect-metadata';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  accessEndpoint,
  AuthModule,
  AuthUser,
  CrudController,
  CrudModule,
  type CrudResource,
  type CustomOperation,
  LoginMethod,
  standardOperations,
  UserAccounts,
} from 'declarest';
import { addAccess } from 'declarest/openapi';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinTable,
  LessThan,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';

@Entity()
class Account extends AuthUser {}

@Entity()
class Country {
  @PrimaryColumn({ length: 3 }) code!: string;
  @Column({ length: 60 }) name!: string;
}

@Entity()
class Tag {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ length: 20, unique: true }) label!: string;
}

@Entity()
class Category {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @ManyToOne(() => Category, { nullable: true }) parent!: Relation<Category> | null;
}

class Dimensions {
  @Column({ type: 'decimal', precision: 8, scale: 3, nullable: true }) width!: string | null;
  @Column({ type: 'integer', default: 1 }) pieces!: number;
}

@Entity()
class Product {
  /** On SQLite, the document has 64 bits for a key that is a text in TypeScript. */
  @PrimaryGeneratedColumn() id!: string;
  @Column({ length: 80 }) name!: string;
  @Column({ type: 'text', nullable: true }) notes!: string | null;
  @Column({ type: 'decimal', precision: 12, scale: 2 }) price!: string;
  @Column({ type: 'bigint', default: 0 }) stock!: string;
  @Column({ type: 'float', nullable: true }) weight!: number | null;
  @Column({ type: 'simple-enum', enum: ['a,b', '100%', '1st', 'x/y'], default: '100%' }) grade!: string;
  @Column({ type: 'simple-enum', enum: ['GOLD', 'SILVER'], nullable: true }) tier!: 'GOLD' | 'SILVER' | null;
  @Column({ default: 'DRAFT' }) state!: string;
  @Column({ type: 'date', default: '2026-01-31' }) releasedOn!: string;
  @Column({ type: 'time', nullable: true }) opensAt!: string | null;
  @Column({ type: 'datetime', nullable: true }) seenAt!: Date | null;
  @Column({ type: 'simple-json', nullable: true }) extra!: unknown;
  @Column({ type: 'simple-array', nullable: true }) words!: string[] | null;
  @Column({ type: 'blob', nullable: true }) picture!: Buffer | null;
  @Column(() => Dimensions) dimensions!: Dimensions;
  @ManyToOne(() => Category, { nullable: true }) category!: Category | null;
  @ManyToOne(() => Country, { nullable: true }) origin!: Country | null;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @OneToMany(() => Review, ({ product }) => product) reviews!: Relation<Review>[];
  @CreateDateColumn() createdAt!: Date;
  @DeleteDateColumn() deletedAt!: Date | null;
  @VersionColumn() version!: number;
}

@Entity()
class Review {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'smallint', default: 5 }) stars!: number;
  @ManyToOne(() => Product, ({ reviews }) => reviews, { nullable: false }) product!: Product;
  @Column({ type: 'integer' }) productId!: string;
}

@Entity()
class Customer {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 60 }) name!: string;
  @Column({ type: 'boolean', nullable: true }) newsletter!: boolean | null;
  @ManyToOne(() => Country, { nullable: true }) country!: Country | null;
}

@Entity()
class Order {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20, unique: true }) number!: string;
  @Column({ type: 'simple-enum', enum: ['DRAFT', 'SENT', 'CANCELLED'], default: 'DRAFT' }) status!: string;
  @Column({ type: 'date', nullable: true }) dueOn!: string | null;
  @ManyToOne(() => Customer, { nullable: true }) customer!: Customer | null;
  @Column({ type: 'integer', nullable: true }) accountId!: number | null;
  @VersionColumn() version!: number;
}

@Entity()
class OrderLine {
  @PrimaryColumn() orderId!: number;
  @PrimaryColumn() position!: number;
  @Column({ type: 'integer', default: 1 }) quantity!: number;
}

/** Clients choose the key. */
@Entity()
class Parcel {
  @PrimaryColumn('bigint') id!: string;
  @Column({ type: 'bigint', default: 0 }) weight!: string;
}

const cancel: CustomOperation<Order> = {
  name: 'cancel',
  route: { verb: 'POST', path: ':id/cancel', status: 200 },
  description: {
    summary: 'Cancel an order',
    body: { type: 'object', properties: { reason: { type: 'string', maxLength: 200 } }, required: ['reason'] },
    message: 'Order cancelled',
    tool: 'cancelOrder',
    data: 'record',
  },
  run: async ({ resource }, { id }) => (await resource.patch(id, { status: 'CANCELLED' }, { as: 'server' })).data,
};

const late: CustomOperation<Order> = {
  name: 'late',
  route: { verb: 'GET', path: 'late' },
  description: {
    summary: 'List orders that are late',
    parameters: { on: { type: 'string', format: 'date' } },
    data: 'records',
  },
  run: ({ find }, { query }) => find({ where: { dueOn: LessThan(String(query['on'])) }, sort: 'dueOn' }),
};

const listed = { enablePagination: true, filterableFields: true, sortableFields: ['id'] } as const;

const ReviewsController = CrudController({ ...listed, entity: Review, endpoint: '/api/products/:productId/reviews' });

const resources: CrudResource[] = [
  CrudController({
    ...listed,
    entity: Product,
    endpoint: '/api/products',
    enablePagination: 'both',
    enableSearch: true,
    searchableFields: ['name', 'notes'],
    sortableFields: ['id', 'name', 'price', 'releasedOn', 'dimensions.width'],
    includableRelations: ['category', 'origin', 'tags', { relation: 'reviews', controller: ReviewsController }],
    linkableRelations: ['tags'],
    aggregatableFields: ['price', 'tier', 'releasedOn'],
    enableExists: true,
    enableCount: true,
    enableExport: true,
    enableImport: true,
    enableBatch: true,
    enableRestore: true,
    deletedRoles: ['ADMIN'],
    fieldPermissions: { notes: { read: ['ADMIN'], write: ['ADMIN'] } },
  }),
  ReviewsController,
  CrudController({
    ...listed,
    entity: Order,
    endpoint: '/api/orders',
    operations: [...standardOperations, cancel, late],
    owner: { field: 'accountId', except: ['ADMIN'] },
    requireIfMatch: true,
    enableIdempotency: true,
  }),
  CrudController({ ...listed, entity: Customer, endpoint: '/api/customers', includableRelations: ['country'] }),
  CrudController({ ...listed, entity: Category, endpoint: '/api/categories', includableRelations: ['parent'] }),
  CrudController({ ...listed, entity: Tag, endpoint: '/api/tags', enablePagination: 'cursor' }),
  CrudController({ ...listed, entity: Parcel, endpoint: '/api/parcels', enableBatch: true }),
  CrudController({ entity: Country, endpoint: '/api/countries', enableBatch: true, maxListSize: 300 }),
  CrudController({ entity: OrderLine, endpoint: '/api/order-lines', filterableFields: true, enableBatch: true }),
];

const FRONT_END = 'http://localhost:3000';
const client = { clientId: 'service', clientSecret: 'of the service', redirectUris: [`${FRONT_END}/login`] };

@Module({})
class ServiceModule {}

export interface Service {
  readonly url: string;
  readonly document: OpenAPIObject;
  close(): Promise<void>;
}

/**
 * @param driver better-sqlite3
 * @param user becomes an administrator
 */
export async function startService(
  driver: unknown,
  user: { readonly email: string; readonly password: string },
): Promise<Service> {
  const imports = [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      driver,
      database: ':memory:',
      autoLoadEntities: true,
      synchronize: true,
    }),
    AuthModule.forRoot({
      userClass: Account,
      loginMethod: LoginMethod.EMAIL,
      jwtSecret: 'a secret of this service with 40 letters',
      sessions: true,
      administration: true,
      plugins: [
        accessEndpoint(),
        secondFactor({ issuer: 'Service' }),
        passkeys({ rpId: 'localhost', origins: [FRONT_END] }),
        apiKeys(),
        oidc({ providers: { main: { issuer: 'https://login.example', ...client } } }),
      ],
    }),
    CrudModule.forFeature(...resources),
  ];
  const app = await NestFactory.create({ module: ServiceModule, imports }, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  await app.get(UserAccounts).ensure({ ...user, role: 'ADMIN' });
  const config = new DocumentBuilder().setTitle('Service').setOpenAPIVersion('3.1.0').addBearerAuth();
  const document = addAccess(SwaggerModule.createDocument(app, config.build()), app);
  const { port } = new URL(await app.getUrl());
  return { url: `http://127.0.0.1:${port}`, document, close: () => app.close() };
}
