/** Interleaved rounds: every contestant in turn, in reverse every second time. */
import { setTimeout } from 'node:timers/promises';
import { isOnSqlite } from './contestants.mjs';
import { CONNECTIONS, load } from './load.mjs';

const WARM_REQUESTS = 5_000;
/** As many as the pools of TypeORM have: further requests would only wait for a connection. */
const SERVER_CONNECTIONS = 10;
/** Microseconds of processor time within 100 ms. */
const IDLE = 1_000;
/** The quartiles of a ratio lie at most this share of its median apart, or its rounds are repeated. */
const MOST_SPREAD = 0.2;
const MOST_REPETITIONS = 2;

/** Linear between two neighbours. */
function quantile(sorted, share) {
  const position = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}

function summarizeNumbers(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share));
  return { median, low, high };
}

/** @returns median and quartiles of each figure of the samples */
export const summarize = (samples) =>
  Object.fromEntries(
    Object.keys(samples[0]).map((figure) => [figure, summarizeNumbers(samples.map((sample) => sample[figure]))]),
  );

/** @returns median and quartiles of the ratios of each round, which a load that comes and goes changes least */
export const ratioOf = (samples, others, figure = 'cpu') =>
  summarizeNumbers(samples.map((sample, round) => sample[figure] / others[round][figure]));

/** The largest share of its median that the quartiles of a ratio lie apart. */
const spreadOf = (rows) =>
  Math.max(
    0,
    ...rows
      .flatMap(({ ratio, ofHandWritten, ofPrototype, byDeclarest }) => [ratio, ofHandWritten, ofPrototype, byDeclarest])
      .filter((each) => each !== undefined)
      .map(({ median, low, high }) => (high - low) / median),
  );

/** @returns the rows of the first measurement whose ratios are steady enough, or of the steadiest one */
export async function repeatUntilSteady(measureRows) {
  let best = await measureRows();
  for (let repetition = 0; repetition < MOST_REPETITIONS && spreadOf(best) > MOST_SPREAD; repetition += 1) {
    const rows = await measureRows();
    if (spreadOf(rows) < spreadOf(best)) best = rows;
  }
  return best;
}

/** @returns the samples of each server, one for each round */
export async function measureRounds(servers, operation, options) {
  const { rounds, seconds } = options;
  for (const server of servers) await warmUp(server, operation, options);
  return interleave(servers, rounds, (server) => measure(server, operation, seconds));
}

export async function interleave(items, rounds, measureOne) {
  const samples = new Map(items.map((item) => [item, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const item of round % 2 === 0 ? items : items.toReversed()) samples.get(item).push(await measureOne(item));
  return samples;
}

/** Waits until the code is optimised. A slow server needs more time for that, or it would be measured cold. */
export async function warmUp(server, operation, { warmUp: { least, most } }) {
  let requests = 0;
  for (let seconds = 0; seconds < least || (requests < WARM_REQUESTS && seconds < most); seconds += 1)
    requests += (await sendLoad(server, operation, 1)).requests;
}

export async function measure(server, operation, seconds) {
  const { requests, handled, elapsed, cpu, busyTime } = await sendLoad(server, operation, seconds);
  if (requests === 0) throw new Error(`${server.contestant.name}: ${operation.title}: no response within ${seconds} s`);
  return { cpu: cpu / handled, perSecond: requests / elapsed, busy: busyTime / (elapsed * 1e6) };
}

/** wrk stops with requests in flight: their processor time and their number belong to `cpu` and `handled`. */
async function sendLoad(server, { title, requests, connections: most = CONNECTIONS }, seconds) {
  const connections = isOnSqlite(server.contestant) ? most : Math.min(most, SERVER_CONNECTIONS);
  const [before, start] = [await server.counts(), server.cpu()];
  const result = await load(server.origin, requests(server.contestant), seconds, connections);
  const busyTime = server.cpu() - start;
  await untilIdle(server);
  const cpu = server.cpu() - start;
  const after = await server.counts();
  const [logged, handled] = ['logged', 'timed'].map((name) => after[name] - before[name]);
  const responses = `${server.contestant.name}: ${title}: ${result.requests} responses`;
  if (result.refused > 0 || result.broken > 0)
    throw new Error(`${responses}, ${result.refused} with a wrong status, ${result.broken} broken`);
  if (logged < result.requests || handled < result.requests)
    throw new Error(`${responses}, of which the access log saw ${logged}, the interceptor ${handled}`);
  return { requests: result.requests, elapsed: result.seconds, handled, cpu, busyTime };
}

async function untilIdle(server) {
  for (let before = -Infinity; server.cpu() - before > IDLE; await setTimeout(100)) before = server.cpu();
}
