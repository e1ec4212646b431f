/** What every test file starts with. */
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

/** Nest logs to the console until an application has a logger of its own. `startApp` of the harness gives it one. */
Logger.overrideLogger(false);

/** Importing @nestjs/swagger takes half a second, which few files need: for the others it is not installed. */
const NEED_SWAGGER =
  /[/\\](openapi[/\\]|cli[/\\]declarest\.spec|docs\.spec|recipes\.spec|sample-app\.spec|with-nest\.spec)/;
if (process.env['TEST_DOCUMENT'] !== 'on' && !NEED_SWAGGER.test(expect.getState().testPath ?? ''))
  jest.unstable_mockModule('@nestjs/swagger', () => {
    throw new Error('not installed');
  });
