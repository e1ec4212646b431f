/** What rules cost: protected reads of everybody under 10, 100 and 1,000 of them. */
import { startServer } from './server-process.mjs';
import { spread } from './statistics.mjs';
import { figuresOf, measureRounds, perSecond, ratios } from './throughput.mjs';

const COUNTS = [10, 100, 1_000];

/** One row for each contestant and number of rules. */
export async function measureRules(contestants, operation, database, options) {
  const servers = [];
  for (const contestant of contestants)
    for (const rules of COUNTS) {
      const env = { BENCH_DATABASE: database(`rules-${contestant.name}-${rules}`), BENCH_RULES: String(rules) };
      servers.push({ ...(await startServer(contestant, env)), rules });
    }
  const samples = await measureRounds(servers, operation, options);
  await Promise.all(servers.map(({ stop }) => stop()));
  return servers.map((server) => {
    const fewest = servers.find(({ contestant, rules }) => contestant === server.contestant && rules === COUNTS[0]);
    const own = samples.get(server);
    return {
      contestant: server.contestant.name,
      rules: server.rules,
      ...figuresOf(own),
      toFewest: spread(ratios(own, samples.get(fewest), perSecond)),
    };
  });
}
