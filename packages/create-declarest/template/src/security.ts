// The access rules. Narrower patterns override broader ones, in any order.
import { SecurityConfig } from 'declarest';

export class Security extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/docs/**', 'GET /docs-json');
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', 'DELETE /api/tasks/*');
  }
}
