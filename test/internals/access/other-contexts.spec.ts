/** The status of a refusal in contexts other than HTTP. */
import { ForbiddenException, type HttpException, UnauthorizedException } from '@nestjs/common';
import { refusalIn } from '../../../lib/access/other-contexts.js';
import { ServiceUnavailable } from '../../../lib/http/failure.js';

it('an exception in a resolver has the status of the refusal', async () => {
  const context = { getType: () => 'graphql' } as never;
  for (const refusal of [new UnauthorizedException('a'), new ForbiddenException('b'), new ServiceUnavailable('c', 5)]) {
    const error = (await refusalIn(context, refusal)) as HttpException;
    expect([error.getStatus(), error.message]).toEqual([refusal.getStatus(), refusal.message]);
  }
});
