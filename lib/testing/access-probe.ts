/** Requests that pass every guard of the package and stop before the handler. Only this process knows their header. */
import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { recognizeProbes, type Probe } from '../http/probe.js';
import { exchange } from './http-exchange.js';

const HEADER = 'x-declarest-probe';

/** The probes that are being sent, by the value of the header. */
const probes = new Map<string, Probe>();
recognizeProbes(({ headers }) => probes.get(String(headers[HEADER])));

/** @returns `allowed` where the handler would run, or else the status of the response */
export async function sendProbe(
  app: INestApplication,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<'allowed' | number> {
  const id = randomUUID();
  const probe: Probe = { hasReachedHandler: false };
  probes.set(id, probe);
  try {
    const { status } = await exchange(app, method, path, { headers: { ...headers, [HEADER]: id } });
    return probe.hasReachedHandler ? 'allowed' : status;
  } finally {
    probes.delete(id);
  }
}
