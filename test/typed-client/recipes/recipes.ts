/** Uses the recipes of packages/declarest-client/README.md with a running shop: hooks in React, and a service of Angular. */
import { QueryClientProvider } from '@tanstack/react-query';
import { createClient, type Failure } from 'declarest-client';
import { Window } from 'happy-dom';
import { createElement, type ReactNode } from 'react';
import { firstValueFrom } from 'rxjs';

import type { Login } from '../steps.js';
import type { Page } from './angular.js';
import type { Product, ProductPatch } from './shop.js';

/** What React shows. */
interface View {
  list?: Page | undefined;
  product?: Product | undefined;
  save?: ((changes: ProductPatch) => Promise<unknown>) | undefined;
}

interface Hooks {
  useProducts(page: number): { readonly data: Page | undefined };
  useProduct(id: number): { readonly data: Product | undefined };
  useSave(seen: Product): (changes: ProductPatch) => Promise<unknown>;
  wrap(children: ReactNode): ReactNode;
}

const ID = 1;

export async function useShop(url: string, login: Login): Promise<Readonly<Record<string, readonly string[]>>> {
  const window = new Window({ url });
  Object.assign(globalThis, { window, document: window.document, location: window.location });
  // Node 20 has none.
  globalThis.navigator ??= window.navigator as never;
  const { shop } = await import('./shop.js');
  await shop.login(login);
  const other = createClient(shop.url, { storage: new Window({ url }).localStorage });
  await other.login(login);
  const changeElsewhere = (json: ProductPatch) => other.request('PATCH', 'products/:id', { params: { id: ID }, json });

  const { createRoot } = await import('react-dom/client');
  const queries = await import('./tanstack-query.js');
  const swr = await import('./swr.js');
  const { SWRConfig } = await import('swr');

  const useHooks = async ({ useProducts, useProduct, useSave, wrap }: Hooks): Promise<string[]> => {
    const view: View = {};
    const Form = ({ seen }: { seen: Product }) => {
      view.save = useSave(seen);
      return null;
    };
    const App = () => {
      view.list = useProducts(1).data;
      view.product = useProduct(ID).data;
      return view.product ? createElement(Form, { seen: view.product }) : null;
    };
    const root = createRoot(window.document.createElement('div') as never);
    root.render(wrap(createElement(App)));
    const list = await until(() => view.list);
    const { price } = await until(() => view.product);
    await view.save?.({ price: price + 1 });
    const saved = await until(() => (view.product?.price === price ? undefined : view.product));
    const save = view.save;
    await changeElsewhere({ price });
    const refused = await save?.({ price: price + 2 }).catch((error: Failure) => error.status);
    root.unmount();
    return [describe(list), `saved: ${saved.price - price}`, `refused: ${String(refused)}`];
  };

  const useAngular = async (): Promise<string[]> => {
    // The packages of Angular are compiled when they are loaded.
    await import('@angular/compiler');
    const { provideZonelessChangeDetection } = await import('@angular/core');
    const { createApplication } = await import('@angular/platform-browser');
    const { http, Products } = await import('./angular.js');
    const { injector } = await createApplication({ providers: [http, provideZonelessChangeDetection()] });
    const products = injector.get(Products);
    const list = await firstValueFrom(products.list(1));
    const { product, etag } = await firstValueFrom(products.find(ID));
    const saved = await firstValueFrom(products.save(ID, etag, { price: product.price + 1 }));
    const again = firstValueFrom(products.save(ID, etag, { price: product.price }));
    const refused = await again.catch((error: { status: number }) => error.status);
    return [describe(list), `saved: ${saved.price - product.price}`, `refused: ${String(refused)}`];
  };

  return {
    'TanStack Query': await useHooks({
      ...queries,
      useSave: (seen) => queries.useSaveProduct(seen).mutateAsync,
      wrap: (children) => createElement(QueryClientProvider, { client: queries.queries }, children),
    }),
    SWR: await useHooks({
      ...swr,
      useSave: (seen) => swr.useSaveProduct(seen).trigger,
      wrap: (children) => createElement(SWRConfig, { value: swr.config }, children),
    }),
    Angular: await useAngular(),
  };
}

const describe = ({ data, metadata }: Page): string =>
  `${data.length} of ${metadata.pagination.total}: ${data.map(({ name }) => name).join(', ')}`;

async function until<T>(find: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 500; tries += 1) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('React shows nothing');
}
