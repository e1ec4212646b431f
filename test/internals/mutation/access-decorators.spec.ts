import 'reflect-metadata';
import { type CanActivate, Logger } from '@nestjs/common';
import { Authenticated, decoratedEffects, effectOf, Public, Roles } from '../../../lib/access/access-decorators.js';
import { declareRoute } from '../../../lib/routes/declared-route.js';
import { refusalOf } from './declared.js';

const effectsOf = (controller: { prototype: object } | undefined, handler: object): string[] =>
  decoratedEffects(controller, handler).map(
    ({ effect, declaredBy }) =>
      `${declaredBy}: ${effect.kind}${effect.kind === 'roles' ? ` ${effect.anyOf.join(' or ')}` : ''}`,
  );

describe('the guard of a decorated handler', () => {
  class Shop {
    @Roles('A')
    list(): void {}
  }
  const [Check] = Reflect.getMetadata('__guards__', Shop.prototype.list) as [
    new (authenticator?: object) => CanActivate,
  ];

  it.each([
    ['without AuthModule', undefined, 1],
    ['with AuthModule', {}, 0],
  ])('[3.3] lets requests pass, and warns %s', (_, authenticator, warnings) => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    expect(new Check(authenticator).canActivate({} as never)).toBe(true);
    expect(warn.mock.calls).toEqual(
      Array.from({ length: warnings }, () => [
        'Access decorators such as @Roles() do nothing without AuthModule or AccessModule. Add one of them to the imports of the root module.',
      ]),
    );
    warn.mockRestore();
  });
});

describe('access decorators', () => {
  it.each([
    ['Public', Public, () => Roles('A'), 'Roles'],
    ['Public', Public, Authenticated, 'Authenticated'],
    ['Roles', () => Roles('A'), Public, 'Public'],
    ['Authenticated', Authenticated, Public, 'Public'],
  ])('[3.3] @%s beside its opposite throws', (name, decorate, opposite, other) => {
    const sentence = refusalOf(() => {
      class Shop {
        @decorate()
        @opposite()
        list(): void {}
      }
      return Shop;
    });
    expect(sentence).toBe(
      `@${name} on Shop.list must be the only kind of access there, public or restricted, got @${other} on Shop.list. Remove one of the two.`,
    );
  });

  it('[3.3] are read in the order in which they are written, those of the class first', () => {
    @Roles('A')
    @Authenticated()
    class Shop {
      @Roles('B', 'C')
      @Roles('D')
      several(): void {}
      plain(): void {}
    }
    const { several, plain } = Shop.prototype;
    const ofClass = ['@Roles on Shop: roles A', '@Authenticated on Shop: authenticated'];
    const ofMethod = ['@Roles on Shop.several: roles B or C', '@Roles on Shop.several: roles D'];
    expect(effectsOf(Shop, several)).toEqual([...ofClass, ...ofMethod]);
    expect(effectsOf(Shop, plain)).toEqual(ofClass);
    expect(effectsOf(undefined, several)).toEqual(ofMethod);
    expect(effectsOf(undefined, plain)).toEqual([]);
  });

  it('[3.3] of a class apply to subclasses without decorators of their own', () => {
    @Public()
    class Base {
      list(): void {}
    }
    class Plain extends Base {}
    @Roles('A')
    class Closed extends Base {}
    const { list } = Base.prototype;
    expect(effectsOf(Plain, list)).toEqual(['@Public on Base: public']);
    expect(effectsOf(Closed, list)).toEqual(['@Roles on Closed: roles A']);
    expect(effectsOf(Base, list)).toEqual(['@Public on Base: public']);
  });

  it('[3.3] @Authenticated names who may: keys, logins, or both', () => {
    class Shop {
      @Authenticated({ by: ['key'] })
      keys(): void {}
      @Authenticated({ by: ['key', 'login'] })
      both(): void {}
    }
    expect(effectsOf(undefined, Shop.prototype.keys)).toEqual(['@Authenticated on Shop.keys: roles KEY']);
    expect(effectsOf(undefined, Shop.prototype.both)).toEqual(['@Authenticated on Shop.both: roles KEY or LOGIN']);
    for (const by of [['token'], []])
      expect(refusalOf(() => Authenticated({ by } as never))).toBe(
        `The arguments of @Authenticated must be "key" or "login", got ${by.length === 0 ? 'none' : 'undefined'}. Write for example @Authenticated({ by: ["key"] }).`,
      );
    expect(refusalOf(() => Authenticated({ for: ['key'] } as never))).toMatch(
      /^The argument of @Authenticated .*\bby\b.*for/,
    );
  });

  it('[3.3] what a resource declares comes before those of its class, and those of the method replace it', () => {
    @Roles('A')
    class Shop {
      list(): void {}
      @Roles('B')
      find(): void {}
    }
    const access = { anyOf: ['EDITOR'] };
    for (const method of [Shop.prototype.list, Shop.prototype.find])
      declareRoute(method, { declaredBy: 'x', operationAccess: { access, declaredBy: 'access of Shop' } });
    expect(effectsOf(Shop, Shop.prototype.list)).toEqual(['access of Shop: roles EDITOR', '@Roles on Shop: roles A']);
    expect(effectsOf(Shop, Shop.prototype.find)).toEqual(['@Roles on Shop: roles A', '@Roles on Shop.find: roles B']);
    expect([effectOf('public'), effectOf(access)]).toEqual([{ kind: 'public' }, { kind: 'roles', anyOf: ['EDITOR'] }]);
  });

  it.each<[what: string, names: unknown[], got: string]>([
    ['no role', [], 'none'],
    ['an empty role', [''], 'an empty string'],
    ['a blank role', ['A', ' '], '"A", " "'],
    ['a number', [7], '7'],
    ['an array of roles', [['A']], 'an array of 1'],
  ])('[3.2] @Roles refuses %s', (_, names, got) => {
    expect(refusalOf(() => Roles(...(names as [string])))).toBe(
      `The arguments of @Roles must be names of roles, got ${got}. Write for example @Roles("ADMIN").`,
    );
  });
});
