/** The controller that Nest's documentation teaches, on Express and on Fastify. */
import 'reflect-metadata';
import { createSecretKey } from 'node:crypto';
import { Module, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule, type JwtModuleOptions } from '@nestjs/jwt';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuthController } from './nest/auth.controller.js';
import { databaseOptions } from './nest/database.js';
import { controllersLike, furtherResources } from './nest/further-resources.js';
import { Product } from './nest/product.entity.js';
import { ProductsController, ProtectedProductsController } from './nest/products.controller.js';
import { User } from './nest/user.entity.js';
import { ORIGIN, PLATFORM, ready, SECRET } from './settings.js';

/** jsonwebtoken makes a key of a string for every token, and tries it as a public key first. */
const jwtOptions: JwtModuleOptions = process.env['BENCH_KEY_OBJECT']
  ? { secretOrKeyProvider: () => createdKey as never }
  : { secret: SECRET };
const createdKey = createSecretKey(Buffer.from(SECRET));

@Module({
  imports: [
    TypeOrmModule.forRoot(databaseOptions),
    TypeOrmModule.forFeature([Product, User, ...furtherResources.map(({ entity }) => entity)]),
    JwtModule.register({ global: true, ...jwtOptions, signOptions: { expiresIn: '24h' } }),
  ],
  controllers: [
    ProductsController,
    ProtectedProductsController,
    AuthController,
    ...controllersLike(ProductsController as never, [Repository]),
  ],
})
class AppModule {}

const adapter = PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
const app = await NestFactory.create(AppModule, adapter, { logger: ['error'] });
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
app.enableCors({
  origin: ORIGIN,
  methods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'],
  allowedHeaders: ['Content-Type', 'Authorization', 'X-Requested-With'],
  maxAge: 600,
});
await app.listen(0, '127.0.0.1');
ready((app.getHttpServer().address() as { port: number }).port);
