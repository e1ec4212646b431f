/** How many refusals are remembered. */
import { AuthEvents } from 'declarest';
import { RefusalEvents } from '../../../lib/access/refusal-events.js';

it('access.refused remembers the last 10,000 of rules, users and addresses', () => {
  const events = new AuthEvents();
  let count = 0;
  events.on('access.refused', () => void (count += 1));
  const observer = new RefusalEvents(events);
  const refuse = (ip: string): void => observer.refused('default', { method: 'GET', headers: {}, ip });
  vi.useFakeTimers({ toFake: ['Date'] });
  for (let index = 0; index < 10_000; index += 1) refuse(`10.0.${index >> 8}.${index & 255}`);
  refuse('10.0.0.0');
  expect(count).toBe(10_000);
  refuse('192.0.2.1');
  // The oldest one was dropped for it.
  refuse('10.0.0.0');
  expect(count).toBe(10_002);
  vi.useRealTimers();
});
