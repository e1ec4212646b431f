// What containers and load balancers ask, without a token.
import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TypeOrmHealthIndicator } from '@nestjs/terminus';

@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly typeOrm: TypeOrmHealthIndicator,
  ) {}

  /** Whether the process answers. A restart does not bring a database back. */
  @Get('livez')
  live() {
    return { status: 'ok' };
  }

  /** Whether the database answers in a second. The reason is in the log only, because it may name the server. */
  @Get('readyz')
  @HealthCheck()
  async ready() {
    try {
      return await this.health.check([() => this.typeOrm.pingCheck('database', { timeout: 1_000 })]);
    } catch {
      throw new ServiceUnavailableException();
    }
  }
}
