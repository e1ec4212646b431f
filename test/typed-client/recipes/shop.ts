/** The client that the recipes of packages/declarest-client/README.md share. */
import { createClient } from 'declarest-client';
import type { components, paths } from '../generated/shop.js';

export type Product = components['schemas']['Product'];
export type ProductPatch = components['schemas']['ProductPatch'];

export const shop = createClient<paths>(new URL('/api', location.href).href);
