import { Injectable } from '@nestjs/common';
import { SecurityConfig } from 'declarest';

/**
 * The catalogue and the description of the API are public to read, and only the staff writes the catalogue. All else
 * needs a login; the admin area, users and deleting orders need ADMIN.
 */
@Injectable()
export class ShopSecurity extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('GET /api/products/**', 'GET /api/categories/**', '/docs/**', 'GET /docs-json');
    this.requireAuth('/api/**', 'GET /admin/resources.json');
    for (const catalogue of ['/api/products', '/api/categories'])
      this.requireRole('STAFF', `POST ${catalogue}`, `POST,PUT,PATCH,DELETE ${catalogue}/*`);
    this.requireRole('ADMIN', '/api/admin/**', '/api/users/**', 'DELETE /api/orders/*');
  }
}
