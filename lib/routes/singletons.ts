import type { ModulesContainer } from '@nestjs/core';
import { InvalidOptionError, isClass } from '../options/invalid-option.js';

/** Finds the providers of all modules that extend a class. @throws InvalidOptionError for one that is no singleton */
export function singletonsOf<T>(modules: ModulesContainer, base: abstract new (...args: never[]) => T): Set<T> {
  const found = new Set<T>();
  const isOfBase = (value: unknown): boolean =>
    value instanceof base || (isClass(value) && value.prototype instanceof base);
  for (const wrapper of [...modules.values()].flatMap(({ providers }) => [...providers.values()])) {
    const instance: unknown = wrapper.instance;
    // A factory with a scope has no instance yet: its token names the class.
    const declared = [instance, wrapper.metatype, wrapper.token].find(isOfBase);
    if (declared && (!wrapper.isDependencyTreeStatic() || wrapper.isTransient)) {
      const advice = 'Remove its scope and the request-scoped providers that it injects';
      throw new InvalidOptionError(wrapper.name, 'a singleton provider', 'a request-scoped or transient one', advice);
    }
    if (instance instanceof base) found.add(instance);
  }
  return found;
}
