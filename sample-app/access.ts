import { AppModule } from './app.module.js';

/** What `main.ts` serves beside the module. */
export { serveDocs as configure } from './docs.js';

/** The shop for `declarest access`, which reads its routes and rules and opens no database. No value here is secret. */
export const shop = AppModule.with({
  port: 0,
  database: ':memory:',
  jwtSecret: 'only-to-read-the-rules-never-to-sign-a-token',
  shopOrigin: 'http://localhost:5173',
  mailUrl: undefined,
  adminEmail: 'admin@shop.example',
  adminPassword: undefined,
  loginPlugins: false,
  trustProxy: false,
});
