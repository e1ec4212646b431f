/** Nest logs to the console until an application has a logger of its own. `startApp` of the harness gives it one. */
import { Logger } from '@nestjs/common';

Logger.overrideLogger(false);
