/** Several handlers at one template: what a decorator says of one of them, it does not say of the others. */
import { All, Controller, Get, type Type, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import { AccessReport, Authenticated, Public, Roles } from 'declarest';
import { PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { bearer, type RuledParts, startRuled, TOKENS, type Who } from './ruled-app.js';

@Roles('ADMIN')
@Controller({ path: 'a', version: '1' })
class First {
  @Get()
  get(): string {
    return 'the first';
  }
}

@Public()
@Controller({ path: 'a', version: '2' })
class Second {
  @Get()
  get(): string {
    return 'the second';
  }
}

@Controller({ path: 'a', version: VERSION_NEUTRAL })
class Neutral {
  @Get()
  get(): string {
    return 'the neutral';
  }
}

@Controller('b')
class Closed {
  @Roles('ADMIN')
  @Get()
  get(): string {
    return 'the closed';
  }
}

@Controller('b')
class Open {
  @Public()
  @All()
  all(): string {
    return 'the open';
  }
}

describe.each(PLATFORMS)('several handlers at one template on %s', (platform) => {
  const start = (controllers: Type[], parts: RuledParts = {}) => startRuled(platform, { controllers, ...parts });
  const versioned = (controllers: Type[]) =>
    start(controllers, {
      configure: (app) => void app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    });

  it.each([
    ['the closed one first', [First, Second, Neutral]],
    ['the open one first', [Second, First, Neutral]],
  ])('[3.3] versions chosen by a header keep their own decorators, %s', async (_, controllers) => {
    const app = await versioned(controllers);
    const ask = async (version: string | undefined, who: Who) => {
      const headers = [...bearer(TOKENS[who]), ...(version === undefined ? [] : [`X-Version: ${version}`])];
      const { status, body } = await rawTarget(app.port, '/a', { headers });
      return [status, body];
    };
    expect((await ask('1', 'ANYBODY'))[0]).toBe(401);
    expect((await ask('1', 'USER'))[0]).toBe(403);
    expect(await ask('1', 'ADMIN')).toEqual([200, 'the first']);
    expect(await ask('2', 'ANYBODY')).toEqual([200, 'the second']);
    // What no decorator speaks of is left to the default.
    expect((await ask(undefined, 'ANYBODY'))[0]).toBe(401);
    expect(await ask(undefined, 'USER')).toEqual([200, 'the neutral']);
    const rows = app.app.get(AccessReport).rows.filter(({ path }) => path === '/a');
    expect(rows.map(({ access }) => access).toSorted()).toEqual(['ADMIN', 'any token', 'public']);
    await app.close();
  });
});

it('[3.2] @Public() opens no role rule, also one that enforcedRoles makes less of', async () => {
  const boot = (role: string) =>
    startRuled('express', {
      controllers: [Second],
      rules: ({ requireRole }) => requireRole(role, '/a'),
      auth: { enforcedRoles: ['ADMIN'] },
    });
  await expect(boot('ADMIN')).rejects.toThrow(/@Public on Second: expected a route that no rule for a role/);
  await expect(boot('EDITOR')).rejects.toThrow(/@Public on Second: expected a route that no rule for a role/);
});

it('[3.3] on Express, of two handlers for the same requests the first one’s decorators hold', async () => {
  @Authenticated()
  @Controller('c')
  class Before {
    @Get()
    get(): string {
      return 'the first';
    }
  }
  @Public()
  @Controller('c')
  class After {
    @Get()
    get(): string {
      return 'the second';
    }
  }
  const app = await startRuled('express', { controllers: [Before, After] });
  expect((await rawTarget(app.port, '/c')).status).toBe(401);
  await app.close();
});

it('[3.3] on Express, a handler for every method does not open another one’s', async () => {
  const app = await startRuled('express', { controllers: [Closed, Open] });
  expect((await rawTarget(app.port, '/b')).status).toBe(401);
  expect((await rawTarget(app.port, '/b', { headers: bearer(TOKENS.USER) })).status).toBe(403);
  expect((await rawTarget(app.port, '/b', { method: 'POST' })).body).toBe('the open');
  await app.close();
});
