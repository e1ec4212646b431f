/** The speed that must hold, and whether it does. */
import { isDeclarest, isOnSqlite, isPeer } from './contestants.mjs';

/** The least share of the prototype's speed, and the least multiple of the hand-written controller's, on SQLite. */
const OPERATION_GOALS = {
  findById: { ofPrototype: 0.85, ofHandWritten: 1.5 },
  protected: { ofPrototype: 0.8, ofHandWritten: 1.8 },
  page: { ofPrototype: 0.85, ofHandWritten: 5 },
  create: { ofPrototype: 0.8, ofHandWritten: 1.4 },
  filtered: { ofHandWritten: 2 },
  included: { ofHandWritten: 3 },
  patch: { ofHandWritten: 2.2 },
  batch: { ofHandWritten: 5 },
};
/** On PostgreSQL and MariaDB, the same for every operation. */
const SERVER_GOALS = { ofHandWritten: 1.5 };
/** declarest against every peer, in every operation. */
const PEER_GOALS = { byDeclarest: 2 };
const TITLES = {
  ofPrototype: 'share of the prototype',
  ofHandWritten: 'times hand-written',
  byDeclarest: 'declarest, times the peer',
};

/** The most of a part, by the name of the part and of its ratio. */
const OTHER_GOALS = [
  ['owner', 'ratio', 'list with `owner`, times that without', 1.15],
  ['rules', 'ratio', '1,000 rules, times 10 rules', 1.05],
  ['sessions', 'ratio', 'protected request with `sessions`, times that without', 1.03],
  ['memory', 'ratio', 'memory after load, times hand-written', 0.7],
  ['start', 'ratio', 'start of 500 resources, times hand-written', 1],
  ['start', 'memoryRatio', 'memory with 500 resources, times hand-written', 1.1],
  ['ruleStart', 'difference', 'start with 10,000 rules, ms more than with 10', 1_000],
];
/** `npm run bench:check` fails where less than this share of the recorded figure is left. */
const LEFT = 0.9;

function goalsOf(contestant, operation) {
  if (isPeer(contestant)) return PEER_GOALS;
  if (!isDeclarest(contestant)) return {};
  return isOnSqlite(contestant) ? (OPERATION_GOALS[operation] ?? {}) : SERVER_GOALS;
}

const row = (title, { name }, measured, goal, holds) => ({ title, contestant: name, measured, goal, holds });

/** One row for each goal and contestant; `measured` has a median and quartiles, but for one measurement of the memory. */
export function compareWithGoals({ contestants, operations = [], ...parts }) {
  const ofOperations = operations.flatMap(({ name, title, rows }) =>
    contestants.flatMap((contestant) => {
      const figures = rows.find((each) => each.contestant === contestant.name);
      return Object.entries(goalsOf(contestant, name)).flatMap(([figure, goal]) => {
        const measured = figures?.[figure];
        if (!measured) return [];
        return row(`${title}: ${TITLES[figure]}`, contestant, measured, `>= ${goal}`, measured.median >= goal);
      });
    }),
  );
  const ofParts = OTHER_GOALS.flatMap(([part, figure, title, goal]) =>
    contestants.filter(isDeclarest).flatMap((contestant) => {
      const measured = parts[part]?.find((each) => each.contestant === contestant.name)?.[figure];
      if (!measured) return [];
      return row(title, contestant, measured, `<= ${goal}`, (measured.median ?? measured) <= goal);
    }),
  );
  return [...ofOperations, ...ofParts];
}

/** The goals of operations with their floors: nine tenths of what the last complete run has recorded. */
export function compareWithRecorded(goals, { goals: recorded }) {
  return goals.map((each) => {
    const { title, contestant, measured, goal } = each;
    const before = recorded.find((other) => other.title === title && other.contestant === contestant)?.measured;
    // The goals of other parts, and of the memory, are limits and no floors.
    if (!before || !goal.startsWith('>=')) return each;
    const floor = LEFT * (before.median ?? before);
    return { ...each, floor, hasFallen: measured.median < floor };
  });
}
