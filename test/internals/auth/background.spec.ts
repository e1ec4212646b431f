/** Work that goes on after an answer. */
import { setTimeout as delay } from 'node:timers/promises';
import { Background } from '../../../lib/auth/plugins/background.js';

it('an application that stops waits for work that other work has started', async () => {
  const background = new Background();
  let isDone = false;
  const inner = async () => {
    await delay(30);
    isDone = true;
  };
  background.run('outer', async () => {
    await delay(30);
    background.run('inner', inner);
  });
  await background.beforeApplicationShutdown();
  expect(isDone).toBe(true);
});
