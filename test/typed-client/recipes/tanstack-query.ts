import { QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Failure } from 'declarest-client';
import { type Product, type ProductPatch, shop } from './shop.js';

/** A refusal stays a refusal. Without a response, or with a failure of the server, the query is sent again. */
const retry = (count: number, error: Error) =>
  count < 3 && error instanceof Failure && (error.status === 0 || error.status >= 500);

export const queries = new QueryClient({ defaultOptions: { queries: { retry } } });

export const useProducts = (page: number) =>
  useQuery({
    queryKey: ['products', 'list', page],
    queryFn: ({ signal }) => shop.request('GET', 'products', { query: { page, size: 3, sort: ['name'] }, signal }),
  });

export const useProduct = (id: number) =>
  useQuery({
    queryKey: ['products', 'one', id],
    queryFn: async ({ signal }) => (await shop.request('GET', 'products/:id', { params: { id }, signal })).data,
  });

/** Saves changes of the product that the form shows. A change by somebody else since is a failure with the status 412. */
export function useSaveProduct(seen: Product) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (json: ProductPatch) => shop.request('PATCH', 'products/:id', { params: { id: seen.id }, json, seen }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['products'] }),
  });
}
