/** A service as docs/tasks/deployment.md recommends it, for bench/limits. */
import 'reflect-metadata';
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { type INestApplication, Injectable, Module, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, CrudModule, SecurityConfig } from 'declarest';
import helmet from 'helmet';
import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { reportPort } from './serve.js';
import { ADAPTER, DATABASE, SECRET } from './settings.js';

@Entity('users')
class User extends AuthUser {}

@Entity('products')
@Index(['stock', 'id'])
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  name!: string;

  @Column('text')
  description!: string;

  @Column('integer')
  stock!: number;
}

@Entity('orders')
class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('integer')
  ownerId!: number;

  @Column({ length: 120 })
  product!: string;

  @Column('integer')
  amount!: number;
}

@Injectable()
class Security extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/products/**', '/api/orders/**');
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: DATABASE,
      autoLoadEntities: true,
      synchronize: true,
      poolSize: 10,
      extra: {
        connectionTimeoutMillis: 5_000,
        statement_timeout: 10_000,
        lock_timeout: 1_000,
        stream: () => {
          const socket = new Socket();
          return socket.setTimeout(15_000, () => socket.destroy());
        },
        onConnect: (client: EventEmitter) => void client.on('error', () => undefined),
      },
    }),
    AuthModule.forRoot({ userClass: User, jwtSecret: SECRET, sessions: true, strict: true }),
    CrudModule.forFeature(
      {
        entity: Product,
        endpoint: '/api/products',
        enablePagination: true,
        enableExport: true,
        filterableFields: ['stock'],
      },
      {
        entity: Order,
        endpoint: '/api/orders',
        enablePagination: true,
        enableIdempotency: true,
        owner: { field: 'ownerId', reads: true },
      },
    ),
  ],
  providers: [Security],
})
class AppModule {}

const options: NestApplicationOptions = { logger: ['error', 'warn'] };

async function createApp(): Promise<INestApplication> {
  if (ADAPTER === 'fastify')
    return NestFactory.create(AppModule, new FastifyAdapter({ trustProxy: 'loopback' }), options);
  const app = await NestFactory.create<NestExpressApplication>(AppModule, new ExpressAdapter(), options);
  app.set('trust proxy', 'loopback');
  return app;
}

const app = await createApp();
const server = app.getHttpServer() as Server;
server.keepAliveTimeout = 65_000;
app.use(helmet());
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
reportPort((server.address() as AddressInfo).port);
