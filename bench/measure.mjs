/** The parts of a run: the operations, a list with `owner`, the number of rules, and the start of many resources. */
import { setTimeout } from 'node:timers/promises';
import { ARTICLE_OPERATIONS, OWN_LIST, PLAIN_LIST } from './article-operations.mjs';
import { hasArticles, isDeclarest } from './contestants.mjs';
import { checkResponse, OF_SESSION, PRODUCT_OPERATIONS } from './operations.mjs';
import { interleave, measure, measureRounds, ratioOf, repeatUntilSteady, summarize, warmUp } from './rounds.mjs';
import { startServer } from './server-process.mjs';

const MIB = 2 ** 20;
const START_RESOURCES = 500;

/** @returns the operations, and the memory after all of those on products */
export async function measureOperations(contestants, options) {
  const products = await measureEach(contestants, {}, PRODUCT_OPERATIONS, options);
  const articles = await measureEach(
    contestants.filter(hasArticles),
    { BENCH_ARTICLES: '1' },
    ARTICLE_OPERATIONS,
    options,
  );
  const operations = [...products.operations, ...articles.operations];
  const isLoaded = products.operations.length === Object.keys(PRODUCT_OPERATIONS).length;
  return isLoaded ? { operations, memory: products.memory } : { operations };
}

async function measureEach(contestants, environment, table, options) {
  const chosen = Object.entries(table).filter(([name]) => options.operations.includes(name));
  if (chosen.length === 0) return { operations: [] };
  const servers = [];
  for (const contestant of contestants) servers.push(await startServer(contestant, environment));
  await setTimeout(1_000);
  const idle = servers.map(({ rss }) => rss() / MIB);
  const operations = [];
  for (const [name, operation] of chosen) {
    for (const server of servers) await checkResponse(server, operation);
    const rows = await repeatUntilSteady(async () => toRows(await measureRounds(servers, operation, options)));
    for (const server of servers) await checkResponse(server, operation);
    operations.push({ name, title: operation.title, rows });
  }
  const loaded = servers.map(({ rss }) => rss() / MIB);
  await Promise.all(servers.map(({ stop }) => stop()));
  const memory = contestants.map((contestant, index) => {
    const base = loaded[contestants.indexOf(findPeer(contestant, 'hand-written', contestants))];
    return {
      contestant: contestant.name,
      idle: idle[index],
      loaded: loaded[index],
      ratio: base && loaded[index] / base,
    };
  });
  return { operations, memory };
}

/** The contestant of this kind on the same platform. */
const findPeer = ({ platform }, kind, contestants) =>
  contestants.find((each) => each.kind === kind && each.platform === platform);

function toRows(samples) {
  const byContestant = new Map([...samples].map(([{ contestant }, own]) => [contestant, own]));
  const contestants = [...byContestant.keys()];
  return contestants.map((contestant) => {
    const own = byContestant.get(contestant);
    const [handWritten, prototype] = ['hand-written', 'prototype'].map((kind) =>
      byContestant.get(findPeer(contestant, kind, contestants)),
    );
    return {
      contestant: contestant.name,
      ...summarize(own),
      ofHandWritten: handWritten && ratioOf(handWritten, own),
      ofPrototype: isDeclarest(contestant) && prototype ? ratioOf(prototype, own) : undefined,
    };
  });
}

/** Protected requests under 10 and 1,000 rules, half of which each name one record of the measured resource. */
export async function measureRules(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isDeclarest)) {
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
  for (const contestant of contestants.filter(isDeclarest)) {
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
  for (const contestant of contestants.filter(isDeclarest)) {
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

/** Time from the start of the process to the first response with status 200, with 500 resources. */
export async function measureStart(contestants, { rounds }) {
  const taking = contestants.filter(({ kind }) => kind !== 'prototype');
  const samples = await interleave(taking, rounds, async (contestant) => {
    const server = await startServer(contestant, { BENCH_RESOURCES: String(START_RESOURCES) });
    await checkResponse(server, PRODUCT_OPERATIONS.findById);
    const sample = { cpu: server.cpu() / 1_000, elapsed: performance.now() - server.start, rss: server.rss() / MIB };
    await server.stop();
    return sample;
  });
  return taking.map((contestant) => {
    const own = samples.get(contestant);
    const base = samples.get(findPeer(contestant, 'hand-written', taking));
    return { contestant: contestant.name, ...summarize(own), ratio: base && ratioOf(own, base) };
  });
}
