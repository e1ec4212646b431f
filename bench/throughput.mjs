/** Rounds of one operation: everybody in turn, backwards every second time, and each ratio taken within its round. */
import { setTimeout } from 'node:timers/promises';
import { compareAnswers } from './compare.mjs';
import { BASE, LIMIT, prototypeOf } from './contestants.mjs';
import { load } from './load.mjs';
import { spread } from './statistics.mjs';

/** One row for each contestant that takes part. */
export async function measureOperation(servers, operation, options) {
  const taking = servers.filter(({ contestant }) => contestant.operations?.includes(operation.name) ?? true);
  const samples = await measureRounds(taking, operation, options);
  const samplesOf = (name) => [...samples].find(([{ contestant }]) => contestant.name === name)?.[1];
  const [base, limit] = [samplesOf(BASE), samplesOf(LIMIT)];
  return [...samples].map(([{ contestant }, own]) => {
    const prototype = contestant.role === 'declarest' ? samplesOf(prototypeOf(contestant)) : undefined;
    return {
      contestant: contestant.name,
      ...figuresOf(own),
      ratio: base && spread(ratios(own, base, perSecond)),
      cpuRatio: base && spread(ratios(base, own, cpu)).median,
      p99Ratio: base && spread(ratios(own, base, ({ p99 }) => p99)).median,
      ofLimit: limit && spread(ratios(own, limit, perSecond)).median,
      ofPrototype: prototype && spread(ratios(own, prototype, perSecond)).median,
    };
  });
}

export const perSecond = (sample) => sample.perSecond;
export const cpu = (sample) => sample.cpu;

export const figuresOf = (samples) => ({
  perSecond: spread(samples.map(perSecond)),
  cpu: spread(samples.map(cpu)).median,
  /** How much of its core it had: far below 1 the machine was not quiet, or the database was what it waited for. */
  busy: spread(samples.map(({ busy }) => busy)).median,
  p50: spread(samples.map(({ p50 }) => p50)).median,
  p99: spread(samples.map(({ p99 }) => p99)).median,
});

/** Of one round each, so that both saw the same machine. */
export const ratios = (samples, others, figure) =>
  samples.map((sample, round) => figure(sample) / figure(others[round]));

/** A map of the servers to their samples, one for each round. */
export async function measureRounds(servers, operation, { rounds, seconds, warmUpSeconds }) {
  for (const server of servers) server.reserve?.(operation.reserve?.(1) ?? 0);
  await compareAnswers(servers, operation);
  for (const server of servers) await measure(server, operation, warmUpSeconds);
  const samples = new Map(servers.map((server) => [server, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const server of round % 2 === 0 ? servers : servers.toReversed())
      samples.get(server).push(await measure(server, operation, seconds));
  return samples;
}

/** One load of one server. */
export async function measure(server, operation, seconds) {
  if (operation.reserve) server.reserve(operation.reserve(seconds));
  const requests = operation.requests(server.contestant.routes, seconds);
  const before = server.cpu();
  const result = await load(server.origin, requests, seconds);
  const used = server.cpu() - before;
  await settled(server);
  const wrong = operation.status >= 400 ? result.requests - result.refused : result.refused;
  if (wrong > 0 || result.broken > 0 || result.requests === 0)
    throw new Error(
      `${server.contestant.name}: ${operation.title}: of ${result.requests} answers ${wrong} were wrong, ${result.broken} did not come`,
    );
  return {
    perSecond: result.requests / result.seconds,
    cpu: used / result.requests,
    busy: used / (result.seconds * 1e6),
    p50: result.p50,
    p99: result.p99,
  };
}

/** The load ends amid requests: those are done before anybody else has the processor. */
async function settled(server) {
  for (let before; before !== server.cpu(); await setTimeout(50)) before = server.cpu();
}
