/** The speed that must hold, and whether it does. */
import { isDeclarest } from './contestants.mjs';

/** The least share of the prototype's speed, and the least multiple of the hand-written controller's, on each platform. */
const OPERATION_GOALS = {
  findById: { ofPrototype: 0.8, ofHandWritten: 1.5 },
  protected: { ofPrototype: 0.8, ofHandWritten: 1.8 },
  page: { ofPrototype: 0.8, ofHandWritten: 5 },
  create: { ofPrototype: 0.75, ofHandWritten: 1.4 },
  filtered: { ofHandWritten: 1.6 },
  patch: { ofHandWritten: 1.8 },
  batch: { ofHandWritten: 2 },
};
const TITLES = { ofPrototype: 'share of the prototype', ofHandWritten: 'times hand-written' };
/** `npm run bench:check` fails below it. */
const CHECKED_SHARE = 0.7;

const OTHER_GOALS = {
  owner: ['list with `owner`, times that without', 1.15],
  rules: ['1,000 rules, times 10 rules', 1.05],
  sessions: ['protected request with `sessions`, times that without', 1.03],
  memory: ['memory after load, times hand-written', 0.7],
  start: ['start of 500 resources, times hand-written', 1.2],
};

const atLeast = (title, contestant, measured, goal) => ({
  title,
  contestant: contestant.name,
  measured,
  goal: `>= ${goal}`,
  holds: measured >= goal,
});

/** One row for each goal and contestant. */
export function compareWithGoals({ contestants, operations = [], ...parts }) {
  const declarest = contestants.filter(isDeclarest);
  const ofOperations = operations.flatMap(({ name, title, rows }) =>
    Object.entries(OPERATION_GOALS[name] ?? {}).flatMap(([figure, goal]) =>
      declarest.flatMap((contestant) => {
        const measured = rows.find((row) => row.contestant === contestant.name)?.[figure]?.median;
        return measured ? atLeast(`${title}: ${TITLES[figure]}`, contestant, measured, goal) : [];
      }),
    ),
  );
  const ofParts = Object.entries(OTHER_GOALS).flatMap(([part, [title, goal]]) =>
    declarest.flatMap(({ name }) => {
      const ratio = parts[part]?.find(({ contestant }) => contestant === name)?.ratio;
      // That of the memory is of one measurement.
      const measured = ratio?.median ?? ratio;
      if (!measured) return [];
      return { title, contestant: name, measured, goal: `<= ${goal}`, holds: measured <= goal };
    }),
  );
  return [...ofOperations, ...ofParts];
}

/** The same rows for `npm run bench:check`, which has one goal for all operations. */
export const compareWithLeastShare = ({ contestants, operations }) =>
  operations.flatMap(({ title, rows }) =>
    contestants.filter(isDeclarest).map((contestant) => {
      const { ofPrototype } = rows.find((row) => row.contestant === contestant.name);
      return atLeast(`${title}: ${TITLES.ofPrototype}`, contestant, ofPrototype.median, CHECKED_SHARE);
    }),
  );
