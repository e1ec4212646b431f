/** Answers each message by the storage of @nestjs/throttler. A process of its own, because Jest cannot load its CommonJS. */
import throttler from '@nestjs/throttler';

const storage = new throttler.ThrottlerStorageService();

process.on('message', async (/** @type {{ id: number, parameters: Parameters<typeof storage.increment> }} */ sent) => {
  process.send?.({ id: sent.id, record: await storage.increment(...sent.parameters) });
});
