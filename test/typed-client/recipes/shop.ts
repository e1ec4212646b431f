/** The client that the recipes of packages/declarest-client/README.md share. */
import { createClient } from 'declarest-client';

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly price: number;
}

export interface One<T> {
  readonly data: T;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly metadata: { readonly pagination: { readonly total: number } };
}

export const shop = createClient(new URL('/api', location.href).href);
