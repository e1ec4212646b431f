/** Callers whose values are not known, to evaluate scopes and owners before any request. */
import { callAs, type Call, type Plan } from '../crud/inspect.js';
import type { Principal } from '../http/caller.js';

/** A call of a caller, and the name of a value in it that stands for any value: `:id`. */
export interface SymbolicCall {
  readonly call: Call;
  /** `undefined` for a value that is the same for every caller. */
  nameOf(value: unknown): string | undefined;
  /**
   * The values that were read: `id`, `email` and claims; `roles`, unless only roles were asked for by name; and `*` where all
   * were listed.
   */
  readonly read: ReadonlySet<string>;
}

/** Makes a call with one of two sets of values, of a user who has every claim that is asked for, or none. */
export type MakeCall = (probe: 0 | 1, hasClaims: boolean) => SymbolicCall;

/** What every user has is no claim. */
export const isClaim = (name: string): boolean => name !== 'id' && name !== 'email';

const isUnknown = (name: string | symbol): name is string =>
  typeof name === 'string' && name !== 'roles' && !(name in Object.prototype);

/** What a scope answers for both sets of values, apart from the values, does not depend on them. */
const PROBES = [1_987_654_000, 17] as const;

/**
 * Calls of any user with these roles. The user is an object of our own that answers each claim that a scope reads.
 * @param granted `undefined` for a caller without a token
 * @param expand adds the roles that other roles include
 * @param asked gets the roles that scopes ask for by name
 */
export function symbolicCalls(
  granted: readonly string[] | undefined,
  expand: (roles: readonly string[]) => readonly string[],
  plans: readonly Plan[],
  asked = new Set<string>(),
): MakeCall {
  const owners = plans.flatMap(({ owner }) => owner ?? []);
  // The values of other claims are numbers, which are texts too.
  const uuids = new Set(owners.flatMap(({ claim, field }) => (field.type.comparison === 'uuid' ? [claim] : [])));
  return (probe, hasClaims) => {
    const values = new Map<string, string>();
    const read = new Set<string>();
    const valueOf = (name: string): string => {
      const known = values.get(name);
      if (known !== undefined) return known;
      const number = String(PROBES[probe] + values.size * 2);
      const value = uuids.has(name) ? `00000000-0000-4000-8000-${number.padStart(12, '0')}` : number;
      values.set(name, value);
      return value;
    };
    const readValue = (name: string): string | undefined => {
      read.add(name);
      return hasClaims || !isClaim(name) ? valueOf(name) : undefined;
    };
    const roles = new Proxy(granted ?? [], {
      get(target, name) {
        if (name !== 'includes' && name !== 'indexOf') {
          read.add('roles');
          return Reflect.get(target, name) as unknown;
        }
        return (role: string) => {
          const isSame = ![...values.values()].some((value) => String(role).includes(value));
          if (!isSame) read.add('roles');
          // Nothing else is the name of a role, such as an option that is not set.
          else if (typeof role === 'string') asked.add(role);
          return target[name](role);
        };
      },
    });
    const user = new Proxy({ roles } as object, {
      get: (target, name) => (isUnknown(name) ? readValue(name) : (Reflect.get(target, name) as unknown)),
      has: (target, name) => (isUnknown(name) ? readValue(name) !== undefined : Reflect.has(target, name)),
      getOwnPropertyDescriptor(target, name) {
        if (!isUnknown(name)) return Reflect.getOwnPropertyDescriptor(target, name);
        const value = readValue(name);
        return value === undefined ? value : { value, configurable: true, enumerable: true, writable: true };
      },
      ownKeys(target) {
        read.add('*');
        return Reflect.ownKeys(target);
      },
    }) as Principal;
    const nameOf = (value: unknown): string | undefined => {
      const [name] = [...values].find(([, each]) => each === String(value)) ?? [];
      return name === undefined ? undefined : `:${name}`;
    };
    // The package itself asks for roles too.
    return { call: callAs(granted && user, () => expand(granted ?? [])), nameOf, read };
  };
}
