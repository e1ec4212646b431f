import { once } from 'node:events';
import { createServer } from 'node:net';

import { reasonOf, StartError } from './start-error.js';

/** Tries the port before anything is created, so that a failed start leaves no database behind. */
export async function assertPortFree(port: number): Promise<void> {
  const probe = createServer().listen(port);
  try {
    await once(probe, 'listening');
  } catch (cause) {
    const reason =
      (cause as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'another program is using it' : reasonOf(cause);
    throw new StartError(`PORT: cannot listen on ${port}: ${reason}. Set PORT to another one.`, { cause });
  }
  await new Promise((closed) => probe.close(closed));
}
