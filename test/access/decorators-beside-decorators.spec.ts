/** Decorators beside decorators: `@Public()` opens what asks for a role as little as it does beside a URL rule. */
import { Controller, Get, type Type } from '@nestjs/common';
import { Authenticated, Public, Roles } from 'declarest';
import { PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { bearer, type RuledParts, startRuled, TOKENS, type Who } from './ruled-app.js';

@Roles('ADMIN')
@Controller('a')
class RolesThenPublic {
  @Public()
  @Get()
  get(): string {
    return 'open';
  }
}

@Authenticated()
@Controller('a')
class TokenThenPublic {
  @Public()
  @Get()
  get(): string {
    return 'open';
  }
}

@Public()
@Controller('a')
class PublicThenRoles {
  @Roles('ADMIN')
  @Get()
  get(): string {
    return 'closed';
  }
}

describe.each(PLATFORMS)('decorators beside decorators on %s', (platform) => {
  const statusesOf = async (
    controller: Type,
    who: readonly Who[],
    auth: RuledParts['auth'] = {},
  ): Promise<(number | undefined)[]> => {
    const app = await startRuled(platform, { controllers: [controller], auth });
    const answers = [];
    for (const each of who) answers.push(await rawTarget(app.port, '/a', { headers: bearer(TOKENS[each]) }));
    return answers.map(({ status }) => status);
  };

  it("[3.3] a method's @Public() that would open its class's @Roles() refuses to boot", async () => {
    await expect(startRuled(platform, { controllers: [RolesThenPublic] })).rejects.toThrow(
      /@Public on RolesThenPublic\.get: .*@Roles on RolesThenPublic restricts/,
    );
  });

  it("[3.3] but it opens its class's @Authenticated(), and a class's opens no method's @Roles()", async () => {
    expect(await statusesOf(TokenThenPublic, ['ANYBODY'])).toEqual([200]);
    expect(await statusesOf(PublicThenRoles, ['ANYBODY', 'USER', 'ADMIN'])).toEqual([401, 403, 200]);
  });

  it('[3.2] enforcedRoles makes nothing less of @Roles()', async () => {
    const statuses = await statusesOf(PublicThenRoles, ['ANYBODY', 'USER', 'ADMIN'], { enforcedRoles: ['EDITOR'] });
    expect(statuses).toEqual([401, 403, 200]);
  });
});

describe('@Public() beside what restricts the very same handler or class', () => {
  it.each([
    ['@Roles() @Public()', [Roles('ADMIN'), Public()]],
    ['@Public() @Roles()', [Public(), Roles('ADMIN')]],
    ['@Authenticated() @Public()', [Authenticated(), Public()]],
    ['@Public() @Authenticated()', [Public(), Authenticated()]],
  ])('[3.3] %s throws where it is written, in either order', (_, decorators) => {
    const both = (...where: [object, string?, PropertyDescriptor?]): void =>
      decorators.forEach((decorate) => (decorate as (...to: typeof where) => void)(...where));
    const descriptor = (): PropertyDescriptor => ({ value: () => undefined });
    class Both {
      get(): void {}
    }
    expect(() => both(Both)).toThrow(/on Both: expected what is either public or restricted/);
    expect(() => both(Both.prototype, 'get', descriptor())).toThrow(/on Both\.get: expected/);
  });

  it('[3.3] two restrictions add up, and two @Public() are one', () => {
    class Twice {
      get(): void {}
    }
    expect(() => [Roles('A'), Authenticated(), Roles('B')].forEach((decorate) => decorate(Twice))).not.toThrow();
    class Open {
      get(): void {}
    }
    expect(() => [Public(), Public()].forEach((decorate) => decorate(Open))).not.toThrow();
  });
});
