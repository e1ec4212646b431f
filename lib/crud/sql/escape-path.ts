import type { DataSource } from 'typeorm';

/** `shop.product` → `"shop"."product"` */
export const escapePath = (path: string, driver: DataSource['driver']): string =>
  path
    .split('.')
    .map((name) => driver.escape(name))
    .join('.');
