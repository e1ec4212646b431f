/** What the limit asks of a database; answers come by callback, so that SQLite's need not wait for a promise. */
export interface Product {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly price: number;
  readonly stock: number;
  /** SQLite has no booleans. */
  readonly active: boolean | number;
  /** `2026-01-31 09:30:15`, in UTC, from SQLite. */
  readonly createdAt: string | Date;
}

/** In the order of the columns: name, description, price, stock, active. */
export type Fields = readonly [string, string, number, number, boolean];

export interface Store {
  byId(id: number, done: (product: Product | undefined) => void): void;
  page(limit: number, offset: number, done: (products: Product[], total: number) => void): void;
  search(word: string, limit: number, offset: number, done: (products: Product[], total: number) => void): void;
  create(fields: Fields, done: (product: Product | undefined) => void): void;
  update(id: number, fields: Fields, done: (product: Product | undefined) => void): void;
  remove(id: number, done: (found: boolean) => void): void;
}
