import { Pool } from 'pg';
import { DATABASE, POOL } from '../settings.js';
import type { Product, Store } from './store.js';

const COLUMNS = 'id, name, description, price, stock, active, "createdAt"';

export function postgresStore(): Store {
  const pool = new Pool({ connectionString: DATABASE, max: POOL });
  /** Named, so that PostgreSQL plans it once for each connection. */
  const ask = <T extends object>(
    name: string,
    text: string,
    values: unknown[],
    done: (rows: T[], count: number) => void,
  ) => void pool.query<T>({ name, text, values }).then(({ rows, rowCount }) => done(rows, rowCount ?? 0));
  const first = (done: (product: Product | undefined) => void) => (rows: Product[]) => done(rows[0]);

  return {
    byId: (id, done) => ask('byId', `SELECT ${COLUMNS} FROM products WHERE id = $1`, [id], first(done)),
    page: (limit, offset, done) =>
      ask<Product>('page', `SELECT ${COLUMNS} FROM products ORDER BY id LIMIT $1 OFFSET $2`, [limit, offset], (rows) =>
        ask<{ count: string }>('count', 'SELECT COUNT(*) FROM products', [], ([row]) => done(rows, Number(row?.count))),
      ),
    search(word, limit, offset, done) {
      const where = `WHERE name ILIKE $1 ESCAPE '!'`;
      const values = [`%${word.replace(/[!%_]/g, '!$&')}%`];
      // Unnamed: the generic plan of a named one would walk the primary key for a rare word.
      void Promise.all([
        pool.query<Product>(`SELECT ${COLUMNS} FROM products ${where} ORDER BY id LIMIT $2 OFFSET $3`, [
          ...values,
          limit,
          offset,
        ]),
        pool.query<{ count: string }>(`SELECT COUNT(*) FROM products ${where}`, values),
      ]).then(([{ rows }, total]) => done(rows, Number(total.rows[0]?.count)));
    },
    create: (fields, done) =>
      ask(
        'create',
        `INSERT INTO products (name, description, price, stock, active) VALUES ($1, $2, $3, $4, $5) RETURNING ${COLUMNS}`,
        [...fields],
        first(done),
      ),
    update: (id, fields, done) =>
      ask(
        'update',
        `UPDATE products SET name = $1, description = $2, price = $3, stock = $4, active = $5 WHERE id = $6 RETURNING ${COLUMNS}`,
        [...fields, id],
        first(done),
      ),
    remove: (id, done) => ask('remove', 'DELETE FROM products WHERE id = $1', [id], (_, count) => done(count > 0)),
  };
}
