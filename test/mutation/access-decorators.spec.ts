import 'reflect-metadata';
import { Authenticated, decoratedAccess, noteClassAccess, Public, Roles } from '../../lib/access/access-decorators.js';
import { refusalOf } from './declared.js';

/** As `@Get()` leaves it. */
const Routed = (): MethodDecorator => (_target, _name, descriptor) =>
  Reflect.defineMetadata('path', '/', descriptor.value as object);

const saidOf = (controller: { prototype: object }, name: string): string[] =>
  decoratedAccess(Reflect.get(controller.prototype, name) as object).map(
    ({ effect, declaredBy }) =>
      `${declaredBy}: ${effect.kind}${effect.kind === 'roles' ? ` ${effect.anyOf.join(' or ')}` : ''}`,
  );

describe('decorators of access', () => {
  it.each([
    ['Public', Public, () => Roles('A')],
    ['Public', Public, Authenticated],
    ['Roles', () => Roles('A'), Public],
    ['Authenticated', Authenticated, Public],
  ])('[3.3] @%s beside its opposite throws where it is written', (name, decorate, opposite) => {
    const sentence = refusalOf(() => {
      class Shop {
        @decorate()
        @opposite()
        list(): void {}
      }
      return Shop;
    });
    expect(sentence).toMatch(
      new RegExp(
        `^@${name} on Shop\\.list: expected what is either public or restricted, got @\\w+ on Shop\\.list; keep one of the two`,
      ),
    );
  });

  it('[3.3] say what they ask for, and where they stand, in the order in which they are written', () => {
    class Shop {
      @Public()
      open(): void {}
      @Authenticated()
      closed(): void {}
      @Roles('A', 'B')
      @Roles('C')
      several(): void {}
      plain(): void {}
    }
    expect(saidOf(Shop, 'open')).toEqual(['@Public on Shop.open: public']);
    expect(saidOf(Shop, 'closed')).toEqual(['@Authenticated on Shop.closed: authenticated']);
    expect(saidOf(Shop, 'several')).toEqual([
      '@Roles on Shop.several: roles A or B',
      '@Roles on Shop.several: roles C',
    ]);
    expect(saidOf(Shop, 'plain')).toEqual([]);
  });

  it.each<[what: string, names: unknown[], got: string]>([
    ['no role', [], 'none'],
    ['an empty role', [''], 'another value'],
    ['a blank role', ['A', ' '], 'another value'],
    ['a number', [7], 'another value'],
    ['an array of roles', [['A']], 'another value'],
  ])('[3.2] @Roles refuses %s', (_, names, got) => {
    expect(refusalOf(() => Roles(...(names as [string])))).toBe(
      `@Roles: expected names of roles, got ${got}; give for example @Roles("ADMIN").`,
    );
  });

  it('[3.3] of a class stand before those of its methods, once they are noted', () => {
    @Roles('A')
    @Authenticated()
    class Shop {
      @Routed()
      @Roles('B')
      list(): void {}
      @Routed()
      find(): void {}
      @Roles('C')
      helper(): void {}
    }
    const { list } = Shop.prototype;
    expect(saidOf(Shop, 'find')).toEqual([]);
    noteClassAccess(Shop);
    const ofClass = ['@Roles on Shop: roles A', '@Authenticated on Shop: authenticated'];
    expect(saidOf(Shop, 'list')).toEqual([...ofClass, '@Roles on Shop.list: roles B']);
    expect(saidOf(Shop, 'find')).toEqual(ofClass);
    expect(saidOf(Shop, 'helper')).toEqual(['@Roles on Shop.helper: roles C']);
    expect(Shop.prototype.list).toBe(list);
    noteClassAccess(Shop);
    expect(saidOf(Shop, 'find')).toEqual(ofClass);
  });

  it('[3.3] a class without decorators leaves its methods as they are', () => {
    class Base {
      @Routed()
      list(): void {}
    }
    class Shop extends Base {}
    noteClassAccess(Shop);
    expect(Object.getOwnPropertyNames(Shop.prototype)).toEqual(['constructor']);
  });

  it('[3.3] an inherited method gets a stand-in, so that two classes do not speak for one another', () => {
    class Base {
      constructor(readonly name: string) {}
      @Routed()
      @Roles('B')
      list(...rest: string[]): string {
        return [this.name, ...rest].join();
      }
      helper(): void {}
    }
    @Public()
    class Open extends Base {}
    @Roles('A')
    class Closed extends Base {}
    noteClassAccess(Open);
    noteClassAccess(Closed);
    expect(saidOf(Open, 'list')).toEqual(['@Public on Open: public', '@Roles on Base.list: roles B']);
    expect(saidOf(Closed, 'list')).toEqual(['@Roles on Closed: roles A', '@Roles on Base.list: roles B']);
    expect(saidOf(Base, 'list')).toEqual(['@Roles on Base.list: roles B']);
    expect(Reflect.getMetadata('path', Open.prototype.list)).toBe('/');
    expect(new Open('me').list('a', 'b')).toBe('me,a,b');
    expect(Object.getOwnPropertyDescriptor(Open.prototype, 'list')).toMatchObject({
      writable: true,
      configurable: true,
      enumerable: false,
    });
    expect(Object.getOwnPropertyNames(Open.prototype)).toEqual(['constructor', 'list']);
  });

  it('[3.3] what is no method is passed over, accessors unread', () => {
    @Public()
    class Shop {
      @Routed()
      list(): void {}
      get stock(): number {
        throw new Error('read too early');
      }
    }
    Object.defineProperty(Shop.prototype, 'limit', { value: { nested: true } });
    noteClassAccess(Shop);
    expect(saidOf(Shop, 'list')).toEqual(['@Public on Shop: public']);
  });

  it('[3.3] a property of a subclass hides the method of its base', () => {
    class Base {
      @Routed()
      list(): void {}
    }
    @Public()
    class Shop extends Base {}
    Object.defineProperty(Shop.prototype, 'list', { value: 7 });
    expect(refusalOf(() => noteClassAccess(Shop))).toBe('accepted');
  });

  it('[3.3] the constructor is no handler', () => {
    @Public()
    class Shop {}
    Reflect.defineMetadata('path', '/', Shop);
    noteClassAccess(Shop);
    Reflect.deleteMetadata('path', Shop);
    expect(decoratedAccess(Shop).map(({ declaredBy }) => declaredBy)).toEqual(['@Public on Shop']);
  });
});
