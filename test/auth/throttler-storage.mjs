/** Answers each message by the storage of @nestjs/throttler. A process of its own, because Jest cannot load its CommonJS. */
import throttler from '@nestjs/throttler';

const storage = new throttler.ThrottlerStorageService();

process.on('message', async ({ id, parameters }) => {
  process.send({ id, record: await storage.increment(...parameters) });
});
