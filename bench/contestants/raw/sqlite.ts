import Database from 'better-sqlite3';
import { DATABASE } from '../settings.js';
import type { Product, Store } from './store.js';

const COLUMNS = 'id, name, description, price, stock, active, "createdAt"';

export function sqliteStore(): Store {
  const database = new Database(DATABASE);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  const byId = database.prepare<unknown[], Product>(`SELECT ${COLUMNS} FROM products WHERE id = ?`);
  const page = database.prepare<unknown[], Product>(`SELECT ${COLUMNS} FROM products ORDER BY id LIMIT ? OFFSET ?`);
  const count = database.prepare<unknown[], number>('SELECT COUNT(*) FROM products').pluck();
  const found = `FROM products WHERE name LIKE ? ESCAPE '!'`;
  const search = database.prepare<unknown[], Product>(`SELECT ${COLUMNS} ${found} ORDER BY id LIMIT ? OFFSET ?`);
  const countFound = database.prepare<unknown[], number>(`SELECT COUNT(*) ${found}`).pluck();
  const insert = database.prepare<unknown[], Product>(
    `INSERT INTO products (name, description, price, stock, active) VALUES (?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
  );
  const update = database.prepare<unknown[], Product>(
    `UPDATE products SET name = ?, description = ?, price = ?, stock = ?, active = ? WHERE id = ? RETURNING ${COLUMNS}`,
  );
  const remove = database.prepare('DELETE FROM products WHERE id = ?');
  return {
    byId: (id, done) => done(byId.get(id)),
    page: (limit, offset, done) => done(page.all(limit, offset), count.get() ?? 0),
    search(word, limit, offset, done) {
      const pattern = `%${word.replace(/[!%_]/g, '!$&')}%`;
      done(search.all(pattern, limit, offset), countFound.get(pattern) ?? 0);
    },
    create: ([name, description, price, stock, active], done) =>
      done(written(insert, name, description, price, stock, active ? 1 : 0)),
    update: (id, [name, description, price, stock, active], done) =>
      done(written(update, name, description, price, stock, active ? 1 : 0, id)),
    remove: (id, done) => done(remove.run(id).changes > 0),
  };
}

/** To its end: SQLite writes its log back into the database then, which otherwise grows without a bound. */
function written(statement: Database.Statement<unknown[], Product>, ...values: unknown[]): Product | undefined {
  return statement.all(...values)[0];
}
