/** A service with every way to log in, and with the interface of `ra-data-declarest/static`, for `scripts/admin-logins.mjs`. */
import 'reflect-metadata';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  type AccountMail,
  administration,
  AuthModule,
  AuthUser,
  CrudModule,
  LoginMethod,
  type Mailer,
  sessions,
  UserAccounts,
} from 'declarest';
import { oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import { addAccess, serveDocuments, serveFolder } from 'declarest/openapi';
import { describeService } from 'ra-data-declarest/description';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
class Member extends AuthUser {}

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
}

@Module({})
class ServiceModule {}

interface Options {
  /** better-sqlite3 */
  readonly driver: unknown;
  readonly origin: string;
  /** Of `ra-data-declarest/static`. */
  readonly folder: string;
  readonly provider: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
  /** Becomes an administrator. */
  readonly user: { readonly email: string; readonly password: string };
}

/** @returns the mails that it sends, and a function that ends it */
export async function startLogins({ driver, origin, folder, provider, user }: Options) {
  const mails: AccountMail[] = [];
  const mailer: Mailer = { send: async (mail) => void mails.push(mail) };
  const redirectUris = [`${origin}/login/company`, `${origin}/admin/login/company/`];
  const database = { database: ':memory:', autoLoadEntities: true, synchronize: true } as const;
  const imports = [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', driver, ...database }),
    AuthModule.forRoot({
      userClass: Member,
      loginMethod: LoginMethod.EMAIL,
      jwtSecret: 'a secret of this service with 40 letters',
      passwordReset: true,
      accountLinks: `${origin}/account`,
      mailer: { useValue: mailer },
      plugins: [
        sessions({ revocation: 'immediate' }),
        administration(),
        secondFactor({ issuer: 'Notes' }),
        passkeys({ rpId: new URL(origin).hostname, origins: [origin], secondFactor: true }),
        oidc({ providers: { company: { ...provider, redirectUris } }, register: () => ({ role: 'ADMIN' }) }),
      ],
    }),
    CrudModule.forFeature({
      entity: Note,
      endpoint: '/api/notes',
      enablePagination: true,
      access: { read: 'authenticated', create: 'authenticated', update: 'authenticated', patch: 'authenticated' },
    }),
  ];
  const module = { module: ServiceModule, imports };
  const app = await NestFactory.create<NestExpressApplication>(module, { logger: ['error'] });
  app.useSecurityHeaders({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  const config = new DocumentBuilder().setTitle('Notes').setVersion('1.0').setOpenAPIVersion('3.1.0').build();
  const logins = { providers: { company: 'the company' }, passkeys: true, passwordReset: true };
  serveDocuments(app, {
    '/admin/resources.json': () => describeService(addAccess(SwaggerModule.createDocument(app, config), app), '/api'),
    '/admin/logins.json': () => logins,
  });
  serveFolder(app, '/admin', folder, 'assets');
  serveFolder(app, '/admin/login/company', folder, 'assets');
  await app.listen(new URL(origin).port, 'localhost');
  await app.get(UserAccounts).ensure({ ...user, role: 'ADMIN' });
  return { mails, close: () => app.close() };
}
