/**
 * Who is measured: each a process of its own, from the files in contestants/.
 *
 * `routes` are its paths, and `dataOf` finds the records in its answers, where they differ from declarest's.
 */
import { hasAuthOption, hasEntryPoint } from './prepare.mjs';

/** The hand-written Nest controller on Express: all ratios are to it. */
export const BASE = 'nest-express';
/** The limit. */
export const LIMIT = 'raw';
/** The limit on a platform: Nest with everything compiled by hand for this one table. */
export const prototypeOf = ({ env }) => `nest-compiled-${env?.BENCH_PLATFORM === 'fastify' ? 'fastify' : 'express'}`;

const ROUTES = {
  updateMethod: 'PUT',
  byId: (id) => `/api/products/${id}`,
  page: (page, size) => `/api/products?page=${page}&size=${size}`,
  search: (word) => `/api/products/search?name=${word}&page=1&size=20`,
};

const DATAUI_ROUTES = {
  page: (page, size) => `/api/products?page=${page}&limit=${size}`,
  search: (word) => `/api/products?filter=name%7C%7C%24cont%7C%7C${word}&page=1&limit=20`,
};

const FEATHERS_ROUTES = {
  // Its PUT would set the generated columns, too.
  updateMethod: 'PATCH',
  page: (page, size) => `/api/products?$skip=${(page - 1) * size}&$limit=${size}&$sort[id]=1`,
  search: (word) => `/api/products?name[$like]=%25${word}%25&$skip=0&$limit=20&$sort[id]=1`,
};

const HAND_WRITTEN = { file: 'nest.js', role: 'hand-written', postgres: true };
const COMPILED = { file: 'compiled.js', role: 'prototype', postgres: true };
const DECLAREST = { file: 'declarest.js', role: 'declarest', postgres: true };
const FASTIFY = { BENCH_PLATFORM: 'fastify' };
/** What a variant does otherwise; elsewhere it is what it is a variant of. */
const WITH_TOKENS = { role: 'variant', postgres: false, operations: ['protected', 'expired'] };
const dataOf = (body) => (Array.isArray(body?.data) ? body.data : body);

export const CONTESTANTS = [
  { name: LIMIT, file: 'raw.js', role: 'limit', postgres: true },
  { name: BASE, ...HAND_WRITTEN },
  { name: 'nest-express-keyobject', ...HAND_WRITTEN, ...WITH_TOKENS, env: { BENCH_KEY_OBJECT: '1' } },
  { name: 'nest-fastify', ...HAND_WRITTEN, env: FASTIFY },
  { name: 'nest-compiled-express', ...COMPILED },
  { name: 'nest-compiled-fastify', ...COMPILED, env: FASTIFY },
  { name: 'dataui-crud', file: 'dataui-crud.js', role: 'peer', routes: DATAUI_ROUTES, dataOf },
  { name: 'feathers', file: 'feathers.js', role: 'peer', routes: FEATHERS_ROUTES, dataOf },
  { name: 'declarest-express', ...DECLAREST },
  {
    name: 'declarest-express-own',
    ...DECLAREST,
    env: { BENCH_PLATFORM: 'declarest/express' },
    missing: () => !hasEntryPoint('./express') && 'there is no declarest/express in this version',
  },
  { name: 'declarest-fastify', ...DECLAREST, env: FASTIFY },
  {
    name: 'declarest-fastify-token-cache',
    ...DECLAREST,
    ...WITH_TOKENS,
    env: { ...FASTIFY, BENCH_TOKEN_CACHE: '1000' },
    missing: () => !hasAuthOption('tokenCacheSize') && 'this version has no option tokenCacheSize',
  },
].map((contestant) => ({ ...contestant, routes: { ...ROUTES, ...contestant.routes } }));

/** Those that are asked for and that this version has; the others are told. */
export function chosenContestants(names) {
  const known = CONTESTANTS.map(({ name }) => name);
  const unknown = names?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`No contestant ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return CONTESTANTS.filter(({ name, missing }) => {
    if (names && !names.includes(name)) return false;
    const reason = missing?.();
    if (reason) console.log(`Left out: ${name}, ${reason}`);
    return !reason;
  });
}
