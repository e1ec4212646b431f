import { ExpressAdapter } from '@nestjs/platform-express';

export const createAdapter = (): ExpressAdapter => new ExpressAdapter();
