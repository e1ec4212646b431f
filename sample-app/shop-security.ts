import { Injectable } from '@nestjs/common';
import { SecurityConfig } from 'declarest';

/** Everyone may look at the catalogue, a login opens the rest, and only an ADMIN deletes or enters the admin area. */
@Injectable()
export class ShopSecurity extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('GET /api/products/**', 'GET /api/categories/**');
    this.requireAuth('/api/**');
    this.requireRole('ADMIN', '/api/admin/**', 'DELETE /api/**');
  }
}
