/** The parts of a run: the operations, a list with `owner`, the number of rules, and the start of many resources. */
import { setTimeout } from 'node:timers/promises';
import { ARTICLE_OPERATIONS, OWN_LIST, PLAIN_LIST } from './article-operations.mjs';
import { hasArticles, isDeclarest } from './contestants.mjs';
import { checkResponse, PRODUCT_OPERATIONS } from './operations.mjs';
import { interleave, measure, measureRounds, ratioOf, summarize, warmUp } from './rounds.mjs';
import { startServer } from './server-process.mjs';

const MIB = 2 ** 20;
const START_RESOURCES = 500;

/** @returns the operations, and the memory after those on products */
export async function measureOperations(contestants, options) {
  const products = await measureEach(contestants, {}, PRODUCT_OPERATIONS, options);
  const articles = await measureEach(
    contestants.filter(hasArticles),
    { BENCH_ARTICLES: '1' },
    ARTICLE_OPERATIONS,
    options,
  );
  return { operations: [...products.operations, ...articles.operations], memory: products.memory };
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
    const before = await Promise.all(servers.map(({ counts }) => counts()));
    const samples = await measureRounds(servers, operation, options);
    for (const [index, server] of servers.entries()) {
      await checkResponse(server, operation);
      await checkCounts(server, operation, before[index], samples.get(server));
    }
    operations.push({ name, title: operation.title, rows: toRows(samples) });
  }
  const loaded = servers.map(({ rss }) => rss() / MIB);
  await Promise.all(servers.map(({ stop }) => stop()));
  const memory = contestants.map((contestant, index) => {
    const base = loaded[contestants.indexOf(handWrittenFor(contestant, contestants))];
    const ratio = base && summarize([loaded[index] / base]);
    return { contestant: contestant.name, idle: idle[index], loaded: loaded[index], ratio };
  });
  return { operations, memory };
}

const handWrittenFor = (contestant, contestants) => peerOf(contestant, 'hand-written', contestants);
const peerOf = ({ platform }, kind, contestants) =>
  contestants.find((each) => each.kind === kind && each.platform === platform);

/** Every measured request has to reach the access log and the interceptor. */
async function checkCounts(server, { title }, before, samples) {
  const after = await server.counts();
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
  const [logged, timed] = ['logged', 'timed'].map((name) => after[name] - before[name]);
  if (logged < requests || timed < requests)
    throw new Error(
      `${server.contestant.name}: ${title}: of ${requests} requests the access log saw ${logged}, the interceptor ${timed}`,
    );
}

function toRows(samples) {
  const byContestant = new Map([...samples].map(([{ contestant }, own]) => [contestant, own]));
  const contestants = [...byContestant.keys()];
  const comparedWith = (contestant, kind) => {
    const peer = peerOf(contestant, kind, contestants);
    return peer && peer !== contestant ? ratioOf(byContestant.get(peer), byContestant.get(contestant)) : undefined;
  };
  return contestants.map((contestant) => ({
    contestant: contestant.name,
    ...figuresOf(byContestant.get(contestant)),
    ofHandWritten: comparedWith(contestant, 'hand-written'),
    ofPrototype: isDeclarest(contestant) ? comparedWith(contestant, 'prototype') : undefined,
  }));
}

const figuresOf = (samples) =>
  Object.fromEntries(
    ['cpu', 'perSecond', 'busy'].map((figure) => [figure, summarize(samples.map((sample) => sample[figure]))]),
  );

/** Protected requests under 10 and 1,000 rules, half of which each name one record of the measured resource. */
export async function measureRules(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isDeclarest)) {
    const few = await startServer(contestant, { BENCH_RULES: '10', BENCH_RECORD_RULES: '1' });
    const many = await startServer(contestant, { BENCH_RULES: '1000', BENCH_RECORD_RULES: '1' });
    for (const server of [few, many]) await checkResponse(server, PRODUCT_OPERATIONS.protected);
    const samples = await measureRounds([few, many], PRODUCT_OPERATIONS.protected, options);
    await Promise.all([few.stop(), many.stop()]);
    rows.push(compare(contestant, samples.get(few), samples.get(many)));
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
    const samples = await interleave(lists, options.rounds, (list) => measure(server, list, options.seconds));
    await server.stop();
    rows.push(compare(contestant, samples.get(PLAIN_LIST), samples.get(OWN_LIST)));
  }
  return rows;
}

const compare = (contestant, without, with_) => ({
  contestant: contestant.name,
  without: summarize(without.map(({ cpu }) => cpu)),
  with: summarize(with_.map(({ cpu }) => cpu)),
  ratio: ratioOf(with_, without),
});

/** Time from the start of the process to the first response with status 200, with 500 resources. */
export async function measureStart(contestants, { rounds }) {
  const taking = contestants.filter(({ kind }) => kind !== 'prototype');
  const samples = await interleave(taking, rounds, async (contestant) => {
    const server = await startServer(contestant, { BENCH_RESOURCES: String(START_RESOURCES) });
    await checkResponse(server, PRODUCT_OPERATIONS.findById);
    const sample = {
      milliseconds: performance.now() - server.start,
      cpu: server.cpu() / 1_000,
      rss: server.rss() / MIB,
    };
    await server.stop();
    return sample;
  });
  return [...samples].map(([contestant, own]) => {
    const base = samples.get(handWrittenFor(contestant, taking));
    const medianOf = (figure) => summarize(own.map((sample) => sample[figure]));
    return {
      contestant: contestant.name,
      ...Object.fromEntries(['milliseconds', 'cpu', 'rss'].map((figure) => [figure, medianOf(figure)])),
      ratio: base && ratioOf(own, base),
    };
  });
}
