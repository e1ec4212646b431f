import { AppModule } from './app.module.js';

/**
 * The shop for `declarest access`, which looks at its routes and rules only: nothing here is secret, and no database is
 * opened. What the environment says decides nothing about who reaches what.
 */
export const shop = AppModule.with({
  port: 0,
  database: ':memory:',
  jwtSecret: 'only-to-look-at-the-rules-never-to-sign-with',
  shopOrigin: 'http://localhost:5173',
  adminEmail: 'admin@shop.example',
  adminPassword: undefined,
});
