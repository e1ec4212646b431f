/** Resident memory of the service. */
export const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed();
export const kibibytes = (bytes) => (bytes / 2 ** 10).toFixed();

/** Reads the memory each `interval` ms. @returns a function that ends it, and returns the samples */
export function watchMemory(server, interval) {
  const start = performance.now();
  const samples = [];
  const timer = setInterval(() => samples.push({ at: performance.now() - start, rss: server.rss() }), interval);
  return () => {
    clearInterval(timer);
    return samples;
  };
}

export const mostMemory = (samples) => Math.max(...samples.map(({ rss }) => rss));

/** The first and the last value of the line that fits best: a single garbage collection does not decide. */
export function fitLine(samples) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [at, rss] = [mean(samples.map(({ at }) => at)), mean(samples.map(({ rss }) => rss))];
  const slope =
    mean(samples.map((each) => (each.at - at) * (each.rss - rss))) / mean(samples.map((each) => (each.at - at) ** 2));
  const valueAt = (sample) => rss + slope * (sample.at - at);
  return [valueAt(samples[0]), valueAt(samples.at(-1))];
}
