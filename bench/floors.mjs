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
};
const OF_PROTOTYPE = 0.9;
const WITH_MANY_RULES = 0.95;
const MOST_MEMORY = 0.65;
const LONGEST_START = 1.2;

const contestantOf = ({ contestant }) => CONTESTANTS.find(({ name }) => name === contestant);

/** The floors of one setting: rows with the measured ratios, the floors, and whether both hold. */
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

/** The other limits: number of rules, memory and start. */
export function otherLimits({ settings, rules = [], start = [] }) {
  const limits = rules.map(({ contestant, ratio }) => ({
    title: 'throughput with 1,000 rules, times that with 10',
    contestant,
    measured: ratio.median,
    required: `>= ${WITH_MANY_RULES}`,
    holds: ratio.median >= WITH_MANY_RULES,
  }));
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
