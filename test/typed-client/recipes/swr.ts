import { Failure } from 'declarest-client';
import useSWR, { type SWRConfiguration, useSWRConfig } from 'swr';
import useSWRMutation from 'swr/mutation';
import { type Product, type ProductPatch, shop } from './shop.js';

/** For `<SWRConfig value={config}>`. A refusal stays a refusal. */
export const config: SWRConfiguration = {
  shouldRetryOnError: (error) => error instanceof Failure && (error.status === 0 || error.status >= 500),
};

export const useProducts = (page: number) =>
  useSWR(['products', page], () => shop.request('GET', 'products', { query: { page, size: 3, sort: ['name'] } }));

export const useProduct = (id: number) =>
  useSWR(['product', id], async () => (await shop.request('GET', 'products/:id', { params: { id } })).data);

/** Saves changes of the product that the form shows. A change by somebody else since is a failure with the status 412. */
export function useSaveProduct(seen: Product) {
  const { mutate } = useSWRConfig();
  const save = (_key: unknown, { arg: json }: { arg: ProductPatch }) =>
    shop.request('PATCH', 'products/:id', { params: { id: seen.id }, json, seen });
  return useSWRMutation(['product', seen.id], save, {
    onSuccess: () => mutate((key) => Array.isArray(key) && key[0] === 'products'),
  });
}
