/** The parts of a run: the operations, a list with `owner`, the number of rules, and the start of many resources. */
import { setTimeout } from 'node:timers/promises';
import { ARTICLE_OPERATIONS, OWN_LIST, PLAIN_LIST } from './article-operations.mjs';
import { findRival, hasOperation, isDeclarest, isOnSqlite, isPeer } from './contestants.mjs';
import { checkResponse, OF_SESSION, PRODUCT_OPERATIONS } from './operations.mjs';
import { interleave, measure, measureRounds, ratioOf, repeatUntilSteady, summarize, warmUp } from './rounds.mjs';
import { startServer } from './server-process.mjs';

const MIB = 2 ** 20;
const START_RESOURCES = 500;

/** @returns the operations, and on SQLite the memory after all of those on products */
export async function measureOperations(contestants, options) {
  const operations = new Map();
  const results = {};
  for (const database of new Set(contestants.map((each) => each.database))) {
    const group = contestants.filter((each) => each.database === database);
    const products = await measureEach(group, {}, PRODUCT_OPERATIONS, options);
    const articles = await measureEach(group, { BENCH_ARTICLES: '1' }, ARTICLE_OPERATIONS, options);
    for (const { name, title, rows } of [...products.operations, ...articles.operations]) {
      if (!operations.has(name)) operations.set(name, { name, title, rows: [] });
      operations.get(name).rows.push(...rows);
    }
    const isLoaded = products.operations.length === Object.keys(PRODUCT_OPERATIONS).length;
    if (isLoaded && database === 'sqlite') results.memory = products.memory;
  }
  return { operations: [...operations.values()], ...results };
}

/** The operations of one table, of the contestants of one database. */
async function measureEach(all, environment, table, options) {
  const chosen = Object.entries(table).filter(([name]) => options.operations.includes(name));
  const contestants = all.filter((each) => chosen.some(([name]) => hasOperation(each, name)));
  if (contestants.length === 0) return { operations: [] };
  const servers = [];
  for (const contestant of contestants) servers.push(await startServer(contestant, environment));
  await setTimeout(1_000);
  const idle = servers.map(({ rss }) => rss() / MIB);
  const operations = [];
  for (const [name, operation] of chosen) {
    const measured = servers.filter(({ contestant }) => hasOperation(contestant, name));
    if (measured.length === 0) continue;
    for (const server of measured) await checkResponse(server, operation);
    const rows = await repeatUntilSteady(async () => toRows(await measureRounds(measured, operation, options)));
    for (const server of measured) await checkResponse(server, operation);
    operations.push({ name, title: operation.title, rows });
  }
  const loaded = servers.map(({ rss }) => rss() / MIB);
  await Promise.all(servers.map(({ stop }) => stop()));
  const memory = contestants.flatMap((contestant, index) => {
    // A package without some of the operations was loaded less.
    if (!chosen.every(([name]) => hasOperation(contestant, name))) return [];
    const base = loaded[contestants.indexOf(findRival(contestant, 'hand-written', contestants))];
    return {
      contestant: contestant.name,
      idle: idle[index],
      loaded: loaded[index],
      ratio: base && loaded[index] / base,
    };
  });
  return { operations, memory };
}

function toRows(samples) {
  const byContestant = new Map([...samples].map(([{ contestant }, own]) => [contestant, own]));
  const contestants = [...byContestant.keys()];
  return contestants.map((contestant) => {
    const own = byContestant.get(contestant);
    const [handWritten, prototype, declarest] = ['hand-written', 'prototype', 'declarest'].map((kind) =>
      byContestant.get(findRival(contestant, kind, contestants)),
    );
    return {
      contestant: contestant.name,
      ...summarize(own),
      ofHandWritten: handWritten && ratioOf(handWritten, own),
      ofPrototype: isDeclarest(contestant) && prototype ? ratioOf(prototype, own) : undefined,
      byDeclarest: isPeer(contestant) && declarest ? ratioOf(own, declarest) : undefined,
    };
  });
}

/** These parts compare declarest with itself, on SQLite. */
const isMeasuredAlone = (contestant) => isDeclarest(contestant) && isOnSqlite(contestant);

/** Protected requests under 10 and 1,000 rules, half of which each name one record of the measured resource. */
export async function measureRules(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isMeasuredAlone)) {
    const few = await startServer(contestant, { BENCH_RULES: '10', BENCH_RECORD_RULES: '1' });
    const many = await startServer(contestant, { BENCH_RULES: '1000', BENCH_RECORD_RULES: '1' });
    for (const server of [few, many]) await checkResponse(server, PRODUCT_OPERATIONS.protected);
    const measured = await repeatUntilSteady(async () => {
      const samples = await measureRounds([few, many], PRODUCT_OPERATIONS.protected, options);
      return [compare(contestant, samples.get(few), samples.get(many))];
    });
    await Promise.all([few.stop(), many.stop()]);
    rows.push(...measured);
  }
  return rows;
}

/** The same list with and without the option `owner`. */
export async function measureOwner(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isMeasuredAlone)) {
    const server = await startServer(contestant, { BENCH_ARTICLES: '1' });
    const lists = [PLAIN_LIST, OWN_LIST];
    for (const list of lists) await checkResponse(server, list);
    for (const list of lists) await warmUp(server, list, options);
    const measured = await repeatUntilSteady(async () => {
      const samples = await interleave(lists, options.rounds, (list) => measure(server, list, options.seconds));
      return [compare(contestant, samples.get(PLAIN_LIST), samples.get(OWN_LIST))];
    });
    await server.stop();
    rows.push(...measured);
  }
  return rows;
}

function compare(contestant, samples, samplesWithMore) {
  const [without, withMore] = [samples, samplesWithMore].map(summarize);
  return { contestant: contestant.name, without, withMore, ratio: ratioOf(samplesWithMore, samples) };
}

/** Protected requests with and without the option `sessions`, each with the token that it issues. */
export async function measureSessions(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isMeasuredAlone)) {
    const without = await startServer(contestant);
    const withSessions = await startServer(contestant, { BENCH_SESSIONS: '1' });
    const operations = new Map([
      [without, PRODUCT_OPERATIONS.protected],
      [withSessions, OF_SESSION],
    ]);
    const servers = [...operations.keys()];
    for (const server of servers) await checkResponse(server, operations.get(server));
    for (const server of servers) await warmUp(server, operations.get(server), options);
    const take = (server) => measure(server, operations.get(server), options.seconds);
    const measured = await repeatUntilSteady(async () => {
      const samples = await interleave(servers, options.rounds, take);
      return [compare(contestant, samples.get(without), samples.get(withSessions))];
    });
    await Promise.all(servers.map((server) => server.stop()));
    rows.push(...measured);
  }
  return rows;
}

/** Milliseconds from the start of the process to the first response with status 200, and its memory. */
async function startOnce(contestant, environment) {
  const server = await startServer(contestant, environment);
  await checkResponse(server, PRODUCT_OPERATIONS.findById);
  const sample = { cpu: server.cpu() / 1_000, elapsed: performance.now() - server.start, rss: server.rss() / MIB };
  await server.stop();
  return sample;
}

/** How much longer a start takes with 10,000 rules, half of which each name one record. */
export async function measureRuleStart(contestants, { rounds }) {
  const rows = [];
  for (const contestant of contestants.filter(isMeasuredAlone)) {
    const [few, many] = ['10', '10000'];
    const take = (BENCH_RULES) => startOnce(contestant, { BENCH_RULES, BENCH_RECORD_RULES: '1' });
    const samples = await interleave([few, many], rounds, take);
    const more = samples.get(many).map(({ cpu }, round) => ({ cpu: cpu - samples.get(few)[round].cpu }));
    const [without, withMore, difference] = [samples.get(few), samples.get(many), more].map(summarize);
    rows.push({ contestant: contestant.name, without, withMore, difference: difference.cpu });
  }
  return rows;
}

/** The start with 500 resources. */
export async function measureStart(contestants, { rounds }) {
  const taking = contestants.filter((each) => isOnSqlite(each) && (isDeclarest(each) || each.kind === 'hand-written'));
  const samples = await interleave(taking, rounds, (contestant) =>
    startOnce(contestant, { BENCH_RESOURCES: String(START_RESOURCES) }),
  );
  return taking.map((contestant) => {
    const own = samples.get(contestant);
    const base = samples.get(findRival(contestant, 'hand-written', taking));
    const ratios = base && { ratio: ratioOf(own, base), memoryRatio: ratioOf(own, base, 'rss') };
    return { contestant: contestant.name, ...summarize(own), ...ratios };
  });
}
