import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port that no process listens on. */
export async function freePort() {
  const probe = createServer().listen(0);
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return String(port);
}
