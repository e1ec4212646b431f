// One instance of a service for drain.mjs: a resource, a readiness check that is 503 before it stops, and a slow route.
import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Get, Module, Query, ServiceUnavailableException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

const DRAIN_MS = 2_000;

class Note {
  id;
  text;
}
Entity()(Note);
PrimaryGeneratedColumn()(Note.prototype, 'id');
Column('varchar')(Note.prototype, 'text');

class HealthController {
  constructor(health) {
    this.health = health;
  }

  async ready() {
    return this.health.check([]).catch(() => {
      throw new ServiceUnavailableException();
    });
  }

  async slow(ms) {
    await wait(Number(ms));
    return 'done';
  }
}
Reflect.defineMetadata('design:paramtypes', [HealthCheckService], HealthController);
Controller()(HealthController);
Query('ms')(HealthController.prototype, 'slow', 0);
for (const [path, name] of Object.entries({ readyz: 'ready', slow: 'slow' }))
  Get(path)(HealthController.prototype, name, Object.getOwnPropertyDescriptor(HealthController.prototype, name));

// oxlint-disable-next-line typescript/no-extraneous-class
class AppModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true }),
    CrudModule.forFeature({ entity: Note, endpoint: '/notes', enablePagination: true, enableExport: true }),
    TerminusModule.forRoot({ gracefulShutdownTimeoutMs: DRAIN_MS, logger: false }),
  ],
  controllers: [HealthController],
})(AppModule);

const { PLATFORM, PORT } = process.env;
const platform = await import(`@nestjs/platform-${PLATFORM}`);
const adapter =
  PLATFORM === 'fastify' ? new platform.FastifyAdapter({ return503OnClosing: false }) : new platform.ExpressAdapter();
const app = await NestFactory.create(AppModule, adapter, { logger: ['error'] });
app.enableShutdownHooks();
app.getHttpServer().keepAliveTimeout = 65_000;
await app.listen(Number(PORT), '127.0.0.1');
