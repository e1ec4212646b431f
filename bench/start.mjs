/** Applications of 1, 50 and 500 resources: the time to the first answer, the memory, and the first and the last resource. */
import { setTimeout } from 'node:timers/promises';
import { startServer } from './server-process.mjs';
import { spread } from './statistics.mjs';
import { cpu, measure, perSecond, ratios } from './throughput.mjs';

const COUNTS = [1, 50, 500];
const MIB = 2 ** 20;

/** One row for each contestant and number of resources. */
export async function measureStart(contestants, database, options) {
  const cases = contestants.flatMap((contestant) => COUNTS.map((resources) => ({ contestant, resources })));
  const samples = new Map(cases.map((each) => [each, []]));
  for (let round = 0; round < options.rounds; round += 1)
    for (const each of round % 2 === 0 ? cases : cases.toReversed()) {
      const { server, milliseconds } = await started(each, database);
      samples.get(each).push({ milliseconds, rss: server.rss() / MIB });
      await server.stop();
    }
  const rows = [];
  for (const each of cases) {
    const own = samples.get(each);
    rows.push({
      contestant: each.contestant.name,
      resources: each.resources,
      milliseconds: spread(own.map(({ milliseconds }) => milliseconds)),
      rss: spread(own.map(({ rss }) => rss)).median,
      ...(each.resources > 1 && (await firstAndLast(each, database, options))),
    });
  }
  return rows;
}

async function started({ contestant, resources }, database) {
  const env = { BENCH_DATABASE: database(`start-${contestant.name}`), BENCH_FURTHER_RESOURCES: String(resources - 1) };
  const server = await startServer(contestant, env);
  while ((await fetch(`${server.origin}/api/products/1`)).status !== 200) await setTimeout(1);
  return { server, milliseconds: performance.now() - server.started };
}

async function firstAndLast(each, database, { rounds, seconds }) {
  const { server } = await started(each, database);
  const [first, last] = ['/api/products/1', `/api/items-${each.resources - 1}/1`].map((path) => ({
    operation: { title: path, status: 200, requests: () => [{ method: 'GET', path }] },
    samples: [],
  }));
  for (let round = -1; round < rounds; round += 1)
    for (const { operation, samples } of round % 2 === 0 ? [first, last] : [last, first]) {
      const sample = await measure(server, operation, Math.min(seconds, 1));
      if (round >= 0) samples.push(sample);
    }
  await server.stop();
  return {
    first: spread(first.samples.map(perSecond)).median,
    last: spread(last.samples.map(perSecond)).median,
    lastToFirst: spread(ratios(last.samples, first.samples, perSecond)),
    lastToFirstCpu: spread(ratios(first.samples, last.samples, cpu)).median,
  };
}
