/** Tells failures of a storage, which are 503, from refusals of requests. */
import { HttpException, Logger } from '@nestjs/common';
import { OutageLog, ServiceUnavailable } from 'declarest/plugin';
import type { FileStorage } from './file-storage.js';

const outage = new OutageLog('The storage of files');
const logger = new Logger('declarest-files');

/** Calls a storage. @throws 503 where it fails, and what a request is refused with */
export async function reach<R>(call: () => Promise<R>): Promise<R> {
  try {
    const result = await call();
    outage.succeed();
    return result;
  } catch (error) {
    if (error instanceof HttpException) throw error;
    outage.refuse(error);
    throw new ServiceUnavailable('The storage of files is not reachable, try again', 5, { cause: error });
  }
}

/** Removes a file that no record refers to. Where that fails, `findOrphans` finds it. */
export async function discard(storage: FileStorage, key: string): Promise<void> {
  try {
    await storage.remove(key);
  } catch (error) {
    logger.error(`Removing the file ${key} failed.`, error instanceof Error ? error.stack : undefined);
  }
}
