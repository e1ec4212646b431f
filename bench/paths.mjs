import { join, resolve } from 'node:path';

export const BENCH = import.meta.dirname;
/** The checkout that is measured. */
export const DECLAREST = resolve(process.env.DECLAREST_DIR ?? join(BENCH, '..'));
/** Files that are made once and kept. */
export const DATA = join(BENCH, 'data');
