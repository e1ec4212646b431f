/** The contestants: each is a process of its own that runs a file of contestants/. */

/** Query parameters of the same three filters, for the articles of one author. */
const FILTERS = {
  'hand-written': (author) => `authorId=${author}&status=published&minViews=20`,
  declarest: (author) => `filter[authorId]=${author}&filter[status]=published&filter[views][gte]=20`,
};
const FILES = { 'hand-written': 'nest.js', prototype: 'compiled.js', declarest: 'declarest.js' };
const ADAPTERS = { express: 'Express', fastify: 'Fastify', 'own-express': 'declarest/express' };

/** Ratios compare contestants of one platform; `adapter` is `platform` but for the adapter of declarest/express. */
const contestant = (kind, platform, adapter = platform) => ({
  name: `${kind}-${adapter}`,
  title: `${kind}, ${ADAPTERS[adapter]}`,
  kind,
  platform,
  adapter,
  file: FILES[kind],
  filters: FILTERS[kind],
});

const DEFAULT = ['express', 'fastify'].flatMap((platform) =>
  Object.keys(FILES).map((kind) => contestant(kind, platform)),
);
const OPTIONAL = [contestant('declarest', 'express', 'own-express')];

export const isDeclarest = ({ kind }) => kind === 'declarest';
export const hasArticles = ({ filters }) => filters !== undefined;

/** @param builds names of the measured builds of declarest; those after the first are contestants of their own */
export function chooseContestants(names, builds) {
  const known = [...DEFAULT, ...OPTIONAL];
  const unknown = names?.filter((name) => !known.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(
      `--contestants must be some of ${known.map(({ name }) => name).join(', ')}, got ${unknown.join(', ')}.`,
    );
  const chosen = names ? known.filter(({ name }) => names.includes(name)) : DEFAULT;
  return chosen.flatMap((each) => [
    each,
    ...builds
      .map((label, build) => ({ ...each, build, name: `${each.name}-${build}`, title: `${each.title} (${label})` }))
      .slice(1)
      .filter(isDeclarest),
  ]);
}
