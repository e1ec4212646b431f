import { Injectable } from '@nestjs/common';
import { DataSource, type ReplicationMode } from 'typeorm';

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly price: number;
  readonly stock: number;
  readonly active: boolean;
  readonly createdAt: string;
}

/** SQLite has no booleans, and writes dates as `2026-01-31 09:30:15`, in UTC. */
type Row = Omit<Product, 'active'> & { readonly active: number };

const COLUMNS = 'id, name, description, price, stock, active, "createdAt"';
const FIELDS = 'name, description, price, stock, active';

/** SQL that is written once for this table, and run by TypeORM's query runner. */
@Injectable()
export class ProductsStore {
  constructor(private readonly dataSource: DataSource) {}

  async find(id: number): Promise<Product | undefined> {
    const rows = await this.run<Row>('slave', `SELECT ${COLUMNS} FROM products WHERE id = ?`, [id]);
    return rows[0] && product(rows[0]);
  }

  async page(limit: number, offset: number): Promise<[Product[], number]> {
    const rows = await this.run<Row>('slave', `SELECT ${COLUMNS} FROM products ORDER BY id LIMIT ? OFFSET ?`, [
      limit,
      offset,
    ]);
    const [total] = await this.run<{ count: number }>('slave', 'SELECT COUNT(*) AS count FROM products', []);
    return [rows.map(product), total?.count ?? 0];
  }

  async create(values: unknown[]): Promise<Product | undefined> {
    const sql = `INSERT INTO products (${FIELDS}) VALUES (?, ?, ?, ?, ?) RETURNING ${COLUMNS}`;
    const rows = await this.run<Row>('master', sql, values);
    return rows[0] && product(rows[0]);
  }

  private async run<T>(mode: ReplicationMode, sql: string, parameters: unknown[]): Promise<T[]> {
    const runner = this.dataSource.createQueryRunner(mode);
    try {
      return (await runner.query(sql, parameters)) as T[];
    } finally {
      await runner.release();
    }
  }
}

const product = (row: Row): Product => ({
  id: row.id,
  name: row.name,
  description: row.description,
  price: row.price,
  stock: row.stock,
  active: row.active === 1,
  createdAt: `${row.createdAt.replace(' ', 'T')}.000Z`,
});
