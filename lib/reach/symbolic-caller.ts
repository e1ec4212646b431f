/** Callers whose values are not known, to evaluate scopes and owners before any request. */
import type { Field } from '../entities/entity-schema.js';
import { setRoleHierarchy, type Principal } from '../http/caller.js';
import type { HttpRequest } from '../http/http-request.js';
import type { ServedRoute } from '../routes/route.js';
import { NO_OPERATION, type Call } from '../crud/store/call.js';

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

type Expand = (roles: readonly string[]) => readonly string[];

export interface SymbolicOptions {
  /** `undefined` for a caller without a token. */
  readonly granted: readonly string[] | undefined;
  /** Adds the roles that other roles include. */
  readonly expand: Expand;
  /** Values whose column is a UUID, by the name of the claim: the others are numbers, which are texts too. */
  readonly uuids: ReadonlySet<string>;
  /** Whether the user has every claim that is asked for, or none. */
  readonly hasClaims: boolean;
  /** Gets the roles that scopes ask for by name. */
  readonly asked: Set<string>;
}

/** What every user has is no claim. */
export const isClaim = (name: string): boolean => name !== 'id' && name !== 'email';

const isUnknown = (name: string | symbol): name is string =>
  typeof name === 'string' && name !== 'roles' && !(name in Object.prototype);

/** Two sets of values: what a scope answers for both, apart from the values, does not depend on them. */
export const PROBES: readonly number[] = [1_987_654_000, 17];

/** The user is an object of our own that answers each claim that a scope reads. */
export function symbolicCall(
  probe: number,
  { granted, expand, uuids, hasClaims, asked }: SymbolicOptions,
): SymbolicCall {
  const values = new Map<string, string>();
  const read = new Set<string>();
  const valueOf = (name: string): string => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const number = String(probe + values.size * 2);
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
  // The package itself asks for roles too.
  return { call: callAs(granted && user, () => expand(granted ?? [])), nameOf, read };

  function nameOf(value: unknown): string | undefined {
    const [name] = [...values].find(([, each]) => each === String(value)) ?? [];
    return name === undefined ? undefined : `:${name}`;
  }
}

/** The call of a request that is not sent. @param user `undefined` for a caller without a token */
export function callAs(user: Principal | undefined, expand: Expand, params: ServedRoute['params'] = {}): Call {
  const request = { method: 'GET', headers: {}, params, user } as unknown as HttpRequest;
  setRoleHierarchy(request, expand);
  return { ...NO_OPERATION, state: undefined, request, transaction: undefined, writes: false, visible: new Map() };
}

/** The claims whose values are UUIDs in the columns of the owner. */
export const uuidClaims = (owners: readonly { readonly claim: string; readonly field: Field }[]): ReadonlySet<string> =>
  new Set(owners.filter(({ field }) => field.type.comparison === 'uuid').map(({ claim }) => claim));
