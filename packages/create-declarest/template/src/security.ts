// The access rules. Narrower patterns override broader ones, in any order.
import { SecurityConfig } from 'declarest';
import { isProduction } from './environment.js';

const DOCS = ['/docs/**', 'GET /docs-json'];

export class Security extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('GET /livez', 'GET /readyz', '/admin/**', ...(isProduction ? [] : DOCS));
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', 'GET /admin/resources.json', 'DELETE /api/tasks/*', ...(isProduction ? DOCS : []));
  }
}
