/** The speed that must hold, and whether it does. Throughput is a multiple of the hand-written controller on Express. */
import { BASE, CONTESTANTS, isDeclarest } from './contestants.mjs';

const OWN = 'declarest-own-express';
const FASTIFY = 'declarest-fastify';

const THROUGHPUT = {
  deployed: {
    findById: { [OWN]: 3.4, [FASTIFY]: 3.6 },
    protected: { [OWN]: 8.5, [FASTIFY]: 9.5 },
    page: { [OWN]: 6, [FASTIFY]: 6.7 },
    create: { [OWN]: 3, [FASTIFY]: 3.3 },
  },
  bare: {
    findById: { [OWN]: 4.2, [FASTIFY]: 7 },
    protected: { [OWN]: 10, [FASTIFY]: 12.5 },
    page: { [OWN]: 7, [FASTIFY]: 9 },
    create: { [OWN]: 3.3, [FASTIFY]: 5 },
  },
  articles: {
    filtered: { [OWN]: 4, [FASTIFY]: 4.5 },
    included: { [OWN]: 3, [FASTIFY]: 3 },
    patch: { [OWN]: 3, [FASTIFY]: 3.3 },
    batch: { [OWN]: 3, [FASTIFY]: 3 },
  },
};
const OF_PROTOTYPE = 0.9;
const WITH_MANY_RULES = 0.95;
const WITH_OWNER = 0.9;
const MOST_MEMORY = 0.65;
const LONGEST_START = 1.2;

const contestantOf = ({ contestant }) => CONTESTANTS.find(({ name }) => name === contestant);

/** The floors of one setting, or of the articles: rows with the measured ratios, the floors, and whether both hold. */
export const throughputFloors = (setting, { operations }) =>
  operations.flatMap(({ name, title, rows }) =>
    Object.entries(THROUGHPUT[setting][name] ?? {}).flatMap(([contestant, floor]) => {
      const row = rows.find((each) => each.contestant === contestant);
      if (!row?.ratio) return [];
      const [ratio, ofPrototype] = [row.ratio.median, row.ofPrototype?.median];
      const holds = ratio >= floor && (ofPrototype === undefined || ofPrototype >= OF_PROTOTYPE);
      return { title, contestant, ratio, floor, ofPrototype, prototypeFloor: OF_PROTOTYPE, holds };
    }),
  );

/** The other limits: number of rules, owner, memory and start. */
export function otherLimits({ settings, rules = [], owner = [], start = [] }) {
  const atLeast = (title, rows, limit) =>
    rows.map(({ contestant, ratio }) => ({
      title,
      contestant,
      measured: ratio.median,
      required: `>= ${limit}`,
      holds: ratio.median >= limit,
    }));
  const limits = [
    ...atLeast('throughput with 1,000 rules, times that with 10', rules, WITH_MANY_RULES),
    ...atLeast('list with `owner`, times that without', owner, WITH_OWNER),
  ];
  const addAtMost = (title, { contestant }, measured, limit) =>
    limits.push({ title, contestant, measured, required: `<= ${limit}`, holds: measured <= limit });
  for (const row of start.filter((each) => isDeclarest(contestantOf(each)) && each.ratio))
    addAtMost('start of 500 resources, times hand-written', row, row.ratio.median, LONGEST_START);
  const memory = settings.deployed?.memory ?? [];
  const base = memory.find(({ contestant }) => contestant === BASE);
  for (const row of memory.filter((each) => isDeclarest(contestantOf(each)) && base))
    addAtMost('memory after load as deployed, times hand-written', row, row.loaded / base.loaded, MOST_MEMORY);
  return limits;
}
