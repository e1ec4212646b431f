import { Injectable } from '@nestjs/common';
import { SecurityConfig } from 'declarest';

/** Products and categories are public to read. All else needs a login, and deleting and the admin area need ADMIN. */
@Injectable()
export class ShopSecurity extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('GET /api/products/**', 'GET /api/categories/**');
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', '/api/admin/**', 'DELETE /api/**');
  }
}
