/**
 * Requests at fixed times, whether or not earlier ones are answered. The time of a request counts from when it was due, so
 * that a stall of the service shows in all requests that it delays. wrk and autocannon wait for answers instead.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { logIn } from './client.mjs';

const MOST_REPORTED = 5;

/**
 * @param requests functions by kind
 * @param kindOf the kind of each request, by its number
 * @returns milliseconds by kind, and the number of failures
 */
export async function sendAtRate(rate, seconds, requests, kindOf) {
  const times = Object.fromEntries(Object.keys(requests).map((kind) => [kind, []]));
  const errors = [];
  const open = new Set();
  const start = performance.now();
  for (let number = 0; number < rate * seconds; number += 1) {
    const due = start + (number * 1_000) / rate;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    const kind = kindOf(number);
    const request = Promise.resolve()
      .then(() => requests[kind]())
      .then(() => times[kind].push(performance.now() - due))
      .catch((error) => errors.push(error.message))
      .finally(() => open.delete(request));
    open.add(request);
  }
  await Promise.all(open);
  for (const error of errors.slice(0, MOST_REPORTED)) console.log(`  failed: ${error.slice(0, 300)}`);
  return { times, failed: errors.length };
}

export function percentile(times, share) {
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];
}

const READS_PER_SECOND = 100;

/** Reads, and a login every two seconds. */
export async function probe(send, sessions, seconds, products) {
  const requests = {
    read: () => send('GET', `/api/products/${1 + Math.floor(Math.random() * products)}`, { token: sessions[0].token }),
    login: () => logIn(send, sessions[0]),
  };
  const kindOf = (number) => (number % (READS_PER_SECOND * 2) === 0 ? 'login' : 'read');
  const { times, failed } = await sendAtRate(READS_PER_SECOND, seconds, requests, kindOf);
  return { p99: Number(percentile(times.read, 0.99).toFixed(1)), failed };
}
