/** An application with rules for API keys. */
import { Controller, Get, Post } from '@nestjs/common';
import { Authenticated, CrudModule, SecurityConfig, sessions } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('keyed_report')
export class Report {
  @PrimaryGeneratedColumn() id!: number;
  @Column() cost!: number;
}

@Controller('api/jobs')
export class JobsController {
  @Authenticated({ by: ['key'] })
  @Post()
  start() {
    return {};
  }
  @Get()
  list() {
    return [];
  }
  @Get('payouts')
  payouts() {
    return [];
  }
}

export class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', 'POST /api/jobs');
    this.requireRole('LOGIN', '/api/jobs/payouts');
  }
}

export const OPTIONS = {
  auth: { plugins: [sessions(), apiKeys()], strict: true },
  imports: [
    CrudModule.forFeature({
      entity: Report,
      endpoint: '/api/reports',
      maxListSize: 10,
      fieldPermissions: { cost: { read: ['LOGIN'] } },
    }),
  ],
  controllers: [JobsController],
  providers: [Rules],
};

/** `strict` needs a rule for the controller of the tests. */
export class WhoRules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
  }
}

export const ACCESS = [
  'POST /api/jobs ADMIN, and KEY',
  'GET /api/jobs any token',
  'GET /api/jobs/payouts LOGIN',
  'GET /api/auth/me LOGIN',
  'POST /api/auth/login public',
  'POST /api/auth/logout public',
  'GET /api/auth/keys LOGIN',
  'POST /api/auth/keys LOGIN',
  'DELETE /api/auth/keys/:id LOGIN',
];

export const textOf = ({ method, path, access }: { method: string; path: string; access: string }) =>
  `${method} ${path} ${access}`;
