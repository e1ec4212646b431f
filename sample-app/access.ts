import { AppModule } from './app.module.js';

/**
 * The module for `declarest access`, which reads routes and rules only and opens no database. The values are not secret,
 * because access does not depend on them.
 */
export const shop = AppModule.with({
  port: 0,
  database: ':memory:',
  jwtSecret: 'signs-no-token-because-no-request-is-served',
  shopOrigin: 'http://localhost:5173',
  adminEmail: 'admin@shop.example',
  adminPassword: undefined,
});
