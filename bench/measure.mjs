/** The parts of a run: operations in both settings, the number of rules, and the start of many resources. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { ARTICLE_OPERATIONS, OWN_LIST, PLAIN_LIST } from './article-operations.mjs';
import { BASE, isDeclarest, isHandWritten } from './contestants.mjs';
import { checkResponse, OPERATIONS } from './operations.mjs';
import { interleave, measure, measureRounds, ratioOf, summarize, warmUp } from './rounds.mjs';
import { startServer } from './server-process.mjs';

const MIB = 2 ** 20;
const START_RESOURCES = 500;
const START_ROUNDS = 3;

/** The operations on products. */
export function measureOperations(contestants, setting, options) {
  const chosen = Object.entries(OPERATIONS).filter(([name]) => options.operations.includes(name));
  const taking = contestants.filter(({ settings }) => settings.includes(setting));
  return measureEach(taking, { setting }, Object.fromEntries(chosen), options);
}

/** Filters, relations, PATCH and batches, as deployed. */
export const measureArticles = (contestants, options) =>
  measureEach(
    contestants.filter((contestant) => isDeclarest(contestant) || isHandWritten(contestant)),
    { setting: 'deployed', BENCH_ARTICLES: '1' },
    ARTICLE_OPERATIONS,
    options,
  );

/** @returns a row for each contestant and operation, and the memory of each contestant after all of them */
async function measureEach(contestants, environment, table, options) {
  const { setting } = environment;
  const servers = [];
  for (const contestant of contestants) servers.push(await startServer(contestant, environment));
  await setTimeout(1_000);
  const idle = servers.map(({ rss }) => rss() / MIB);
  const operations = [];
  for (const [name, operation] of Object.entries(table)) {
    for (const server of servers) await checkServer(server, setting, operation);
    const before = await Promise.all(servers.map(({ counts }) => counts()));
    const samples = await measureRounds(servers, operation, options);
    for (const [index, server] of servers.entries()) {
      await checkServer(server, setting, operation);
      if (setting === 'deployed') await checkCounts(server, operation, before[index], samples.get(server));
    }
    operations.push({ name, title: operation.title, rows: toRows(samples) });
  }
  const memory = servers.map(({ contestant, rss }, index) => ({
    contestant: contestant.name,
    idle: idle[index],
    loaded: rss() / MIB,
  }));
  await Promise.all(servers.map(({ stop }) => stop()));
  return { operations, memory };
}

async function checkServer(server, setting, operation) {
  const response = await checkResponse(server, operation);
  if (operation.status >= 400) return;
  const hasHeaders = response.headers.has('x-content-type-options');
  assert.equal(hasHeaders, setting === 'deployed', `${server.contestant.name}: security headers, ${setting}`);
}

/** Every measured request has to reach the access log and the interceptor. */
async function checkCounts(server, { title, status }, before, samples) {
  if (status >= 400) return;
  const after = await server.counts();
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
  const [logged, timed] = ['logged', 'timed'].map((name) => after[name] - before[name]);
  if (logged < requests || timed < requests)
    throw new Error(
      `${server.contestant.name}: ${title}: of ${requests} requests the access log saw ${logged}, the interceptor ${timed}`,
    );
}

function toRows(samples) {
  const samplesOf = (name) => [...samples].find(([{ contestant }]) => contestant.name === name)?.[1];
  const base = samplesOf(BASE);
  return [...samples].map(([{ contestant }, own]) => {
    const prototype = samplesOf(contestant.prototype);
    return {
      contestant: contestant.name,
      ...figuresOf(own),
      ratio: base && ratioOf(own, base),
      ofPrototype: prototype && ratioOf(own, prototype),
    };
  });
}

const figuresOf = (samples) => ({
  perSecond: summarize(samples.map(({ perSecond }) => perSecond)),
  ...Object.fromEntries(
    ['cpu', 'busy', 'p50', 'p99'].map((figure) => [figure, summarize(samples.map((sample) => sample[figure])).median]),
  ),
});

/** Protected requests under 10 and 1,000 rules, half of which each name one record of the measured resource. */
export async function measureRules(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isDeclarest)) {
    const few = await startServer(contestant, { BENCH_RULES: '10', BENCH_RECORD_RULES: '1' });
    const many = await startServer(contestant, { BENCH_RULES: '1000', BENCH_RECORD_RULES: '1' });
    for (const server of [few, many]) await checkResponse(server, OPERATIONS.protected);
    const samples = await measureRounds([few, many], OPERATIONS.protected, options);
    await Promise.all([few.stop(), many.stop()]);
    rows.push(compare(contestant, samples.get(few), samples.get(many)));
  }
  return rows;
}

const compare = (contestant, few, many) => ({
  contestant: contestant.name,
  few: summarize(few.map(({ perSecond }) => perSecond)).median,
  many: summarize(many.map(({ perSecond }) => perSecond)).median,
  ratio: ratioOf(many, few),
});

/** Time from the start of the process to the first response with status 200, with 500 resources. */
export async function measureStart(contestants, { rounds }) {
  const taking = contestants.filter((contestant) => isDeclarest(contestant) || isHandWritten(contestant));
  const samples = await interleave(taking, Math.min(rounds, START_ROUNDS), async (contestant) => {
    const server = await startServer(contestant, { BENCH_RESOURCES: String(START_RESOURCES) });
    await checkResponse(server, OPERATIONS.findById);
    const sample = { milliseconds: performance.now() - server.start, rss: server.rss() / MIB };
    await server.stop();
    return sample;
  });
  return [...samples].map(([contestant, own]) => {
    const base = [...samples].find(([{ name }]) => name === contestant.base)?.[1];
    return {
      contestant: contestant.name,
      milliseconds: summarize(own.map(({ milliseconds }) => milliseconds)),
      rss: summarize(own.map(({ rss }) => rss)).median,
      ratio: base && ratioOf(own, base, 'milliseconds'),
    };
  });
}

/** The same list with and without the option `owner`. */
export async function measureOwner(contestants, options) {
  const rows = [];
  for (const contestant of contestants.filter(isDeclarest)) {
    const server = await startServer(contestant, { BENCH_ARTICLES: '1' });
    for (const operation of [PLAIN_LIST, OWN_LIST]) await checkResponse(server, operation);
    rows.push(await compareOperations(server, PLAIN_LIST, OWN_LIST, options));
  }
  return rows;
}

/** Requests for the first and the last of `--resources N` resources: the cost of finding a route. */
export async function measureLastResource(contestants, options) {
  const count = options.resources;
  const rows = [];
  for (const contestant of contestants.filter(isDeclarest)) {
    const server = await startServer(contestant, { BENCH_RESOURCES: String(count) });
    const [first, last] = ['products', `items-${count - 1}`].map((name) => ({
      ...OPERATIONS.findById,
      requests: () => [{ method: 'GET', path: `/api/${name}/1` }],
    }));
    rows.push(await compareOperations(server, first, last, options));
  }
  return rows;
}

/** Two operations of one server, which is stopped then. */
async function compareOperations(server, first, second, options) {
  for (const operation of [first, second]) await warmUp(server, operation, options);
  const samples = await interleave([first, second], options.rounds, (operation) =>
    measure(server, operation, options.seconds),
  );
  await server.stop();
  return compare(server.contestant, samples.get(first), samples.get(second));
}
