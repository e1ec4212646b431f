/** The contestants: each is a process of its own that runs a file of contestants/. */

/** The hand-written controller on Express; all ratios are to it. */
export const BASE = 'nest-express';

const NEST = { file: 'nest.js', platform: 'express', base: BASE };
const COMPILED = { file: 'compiled.js', platform: 'own-express' };
const DECLAREST = {
  file: 'declarest.js',
  platform: 'express',
  base: BASE,
  routes: {
    filtered: (author) =>
      `/api/articles?filter[authorId]=${author}&filter[status]=published&filter[views][gte]=20&sort=-publishedAt&page=1&size=20`,
  },
};
const FASTIFY = { platform: 'fastify', base: 'nest-fastify' };

const ROUTES = {
  path: '/api/products',
  updateMethod: 'PUT',
  page: (page, size) => `/api/products?page=${page}&size=${size}`,
  search: (word) => `/api/products/search?name=${word}&page=1&size=20`,
  filtered: (author) =>
    `/api/articles?authorId=${author}&status=published&minViews=20&sort=-publishedAt&page=1&size=20`,
};

const DATAUI_ROUTES = {
  page: (page, size) => `/api/products?page=${page}&limit=${size}`,
  search: (word) => `/api/products?filter=name%7C%7C%24cont%7C%7C${word}&page=1&limit=20`,
};

const FEATHERS_ROUTES = {
  // PUT of Feathers would also set the generated columns.
  updateMethod: 'PATCH',
  page: (page, size) => `/api/products?$skip=${(page - 1) * size}&$limit=${size}&$sort[id]=1`,
  search: (word) => `/api/products?name[$like]=%25${word}%25&$skip=0&$limit=20&$sort[id]=1`,
};

/**
 * `base` is the hand-written controller with which start times are compared, `prototype` the one that sets the floor.
 * Peers have an envelope of their own, and take part with `--peers`.
 */
export const CONTESTANTS = [
  { name: BASE, title: 'hand-written, Express', ...NEST },
  { name: 'nest-fastify', title: 'hand-written, Fastify', ...NEST, ...FASTIFY },
  { name: 'nest-compiled-express', title: 'ordinary prototype, own Express adapter', ...COMPILED },
  { name: 'nest-compiled-fastify', title: 'ordinary prototype, Fastify', ...COMPILED, ...FASTIFY },
  {
    name: 'declarest-own-express',
    title: 'declarest, own Express adapter',
    ...DECLAREST,
    platform: 'own-express',
    prototype: 'nest-compiled-express',
  },
  {
    name: 'declarest-fastify',
    title: 'declarest, Fastify',
    ...DECLAREST,
    ...FASTIFY,
    prototype: 'nest-compiled-fastify',
  },
  { name: 'declarest-express', title: "declarest, Nest's Express adapter", ...DECLAREST },
  { name: 'dataui-crud', title: '@dataui/crud, Express', file: 'dataui-crud.js', isPeer: true, routes: DATAUI_ROUTES },
  {
    name: 'feathers',
    title: 'Feathers, Koa',
    file: 'feathers.js',
    isPeer: true,
    routes: FEATHERS_ROUTES,
    // What surrounds the handlers as deployed is made of Nest's parts.
    settings: ['bare'],
  },
].map((contestant) => ({ settings: ['deployed', 'bare'], ...contestant, routes: { ...ROUTES, ...contestant.routes } }));

export const isDeclarest = ({ file }) => file === DECLAREST.file;
export const isHandWritten = ({ file }) => file === NEST.file;

export function chooseContestants({ contestants: names, peers }) {
  if (!names) return CONTESTANTS.filter(({ isPeer }) => peers || !isPeer);
  const known = CONTESTANTS.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`--contestants must be some of ${known.join(', ')}, got ${unknown.join(', ')}.`);
  return CONTESTANTS.filter(({ name }) => names.includes(name));
}
