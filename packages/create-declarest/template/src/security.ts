// The access rules. Narrower patterns override broader ones, in any order.
import { SecurityConfig } from 'declarest';
import { isProduction } from './environment.js';

export class Security extends SecurityConfig {
  configure(): void {
    if (isProduction) this.requireRole('ADMIN', '/docs/**', 'GET /docs-json');
    else this.publicEndpoints('/docs/**', 'GET /docs-json');
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', 'DELETE /api/tasks/*');
  }
}
