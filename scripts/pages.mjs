// What scripts that use pages in Chromium share.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Adds to `messages` what the page writes to the console. */
export function watchConsole(page, messages) {
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('console', (message) => {
    // Chromium itself writes a line for each failed request, and hints of the kind `verbose`.
    if (['error', 'warning'].includes(message.type()) && !message.text().startsWith('Failed to load resource'))
      messages.push(`${message.type()} ${message.text()}`);
  });
}

/** Waits until what fades or moves has arrived: dialogs and notifications change colours meanwhile. */
export async function settle(page) {
  await page.waitForFunction(() => {
    const ends = (animation) => animation.effect.getComputedTiming().endTime !== Infinity;
    return document.getAnimations().every((animation) => animation.playState !== 'running' || !ends(animation));
  });
}

/** Looks for violations of accessibility, and for a page that is wider than the window. */
export async function checkPage(page, name) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  const described = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  assert.deepEqual(described, [], name);
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert(tooWide <= 0, `${name} is ${tooWide} px wider than the window`);
}

/** Waits until the process answers at the address. */
export async function answers(url, server) {
  for (;;) {
    try {
      return await fetch(url);
    } catch (error) {
      if (server.exitCode !== null) throw error;
      await setTimeout(100);
    }
  }
}
