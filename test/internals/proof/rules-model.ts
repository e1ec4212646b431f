/**
 * The rules of contract §3, told a second time: sentence by sentence, on plain strings and without any thought of speed,
 * by someone who had not read lib/access. It knows no routes: the contract ties a decision to a path and a method, and
 * what the library works out beforehand for a route has to come to the same.
 */

export type Declaration =
  | { readonly kind: 'public' | 'authenticated' | 'denied'; readonly pattern: string }
  | { readonly kind: 'anyRole' | 'allRoles'; readonly roles: readonly string[]; readonly pattern: string }
  | { readonly kind: 'policy'; readonly name: string; readonly pattern: string };

/** What stands for one path and method after all rules were folded. */
export interface State {
  readonly gate: 'open' | 'token' | 'nobody';
  /** Of every group the caller must have one. */
  readonly groups: readonly (readonly string[])[];
  readonly policies: readonly string[];
}

/** `roles` is undefined without a valid token; `satisfies` are the policies that would answer `true`. */
export interface Caller {
  readonly roles: readonly string[] | undefined;
  readonly satisfies: readonly string[];
}

export type Answer = 'allowed' | 401 | 403;
export type DefaultAccess = 'authenticated' | 'public' | 'denied';

const OPEN: State = { gate: 'open', groups: [], policies: [] };
const BY_DEFAULT: Record<DefaultAccess, State> = {
  public: OPEN,
  authenticated: { ...OPEN, gate: 'token' },
  denied: { ...OPEN, gate: 'nobody' },
};

export const pathOf = (pattern: string): string => pattern.slice(pattern.indexOf('/'));

/** Empty where the pattern names none: every method. */
export const methodsOf = (pattern: string): string[] =>
  pattern
    .slice(0, pattern.indexOf('/'))
    .split(',')
    .map((method) => method.trim())
    .filter((method) => method !== '');

/** §3.1: "GET includes HEAD"; §3.6: "HEAD is governed as GET". */
export function matchesMethod(pattern: string, method: string): boolean {
  const methods = methodsOf(pattern);
  return methods.length === 0 || methods.includes(method === 'HEAD' ? 'GET' : method);
}

/** §3.1. `caseSensitive` is the platform's: a router that serves `/API/x` as `/api/x` has the rules read it so too. */
export function matchesPath(pattern: string, path: string, caseSensitive: boolean): boolean {
  const asRead = (text: string): string => (caseSensitive ? text : text.toLowerCase());
  const wanted = asRead(pathOf(pattern));
  const asked = asRead(path);
  if (wanted.endsWith('/**')) {
    const base = wanted.slice(0, -'/**'.length);
    return asked === base || asked.startsWith(`${base}/`);
  }
  if (wanted.endsWith('/*')) {
    const base = wanted.slice(0, -'*'.length);
    const level = asked.slice(base.length);
    return asked.startsWith(base) && level !== '' && !level.includes('/');
  }
  return asked === wanted;
}

/** §3.3: fewer literal segments first; among equals `**`, then `*`, then plain; then without, then with methods. */
export function compareBreadth(a: string, b: string): number {
  const rank = (pattern: string): [number, number, number] => {
    const segments = pathOf(pattern)
      .split('/')
      .filter((segment) => segment !== '');
    const literals = segments.filter((segment) => !segment.includes('*')).length;
    const tail = segments.includes('**') ? 0 : segments.includes('*') ? 1 : 2;
    return [literals, tail, methodsOf(pattern).length === 0 ? 0 : 1];
  };
  const [left, right] = [rank(a), rank(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** What a decorator says of a handler. */
export interface Decoration {
  readonly on: 'class' | 'method';
  readonly kind: 'public' | 'authenticated' | 'anyRole';
  readonly roles: readonly string[];
}

/** §3.2, `enforcedRoles`: "a rule for a role not in the list asks for a valid token only". */
export const enforce = (declarations: readonly Declaration[], enforced: readonly string[] | undefined): Declaration[] =>
  declarations.flatMap((declaration): Declaration[] => {
    if (!enforced || !('roles' in declaration)) return [declaration];
    const { kind, roles, pattern } = declaration;
    // Each of them is asked for by itself.
    const groups = kind === 'allRoles' ? roles.map((role) => [role]) : [roles];
    return groups.map((group) =>
      group.some((role) => enforced.includes(role))
        ? { kind: 'anyRole', roles: group, pattern }
        : { kind: 'authenticated', pattern },
    );
  });

/** README: `@Public()` stops the start "where it would open what asks for a role, a policy or nobody". */
export const mayNotBeOpened = ({ kind }: Pick<Declaration, 'kind'>): boolean =>
  kind !== 'public' && kind !== 'authenticated';

/**
 * Decorators are rules. Of one place they are the same pattern, so §3.3 refuses both public and restricted; and a
 * method's `@Public()` would open what its class's `@Roles()` restricts.
 */
export const refuseEachOther = (decorations: readonly Decoration[]): boolean =>
  decorations
    .filter(({ kind }) => kind === 'public')
    .some((opening) =>
      decorations.some((other) =>
        opening.on === other.on ? other.kind !== 'public' : opening.on === 'method' && mayNotBeOpened(other),
      ),
    );

/** §3.4: register and login are public and `me` authenticated, "as exact patterns". */
export const ownRules = (base: string): Declaration[] => [
  { kind: 'public', pattern: `POST ${base}/register` },
  { kind: 'public', pattern: `POST ${base}/login` },
  { kind: 'authenticated', pattern: `GET ${base}/me` },
];

/** §3.4: "an application's rule for the very same path replaces them", in the letters that the router takes for the same. */
export function withOwnRules(
  declarations: readonly Declaration[],
  base: string,
  caseSensitive: boolean,
): Declaration[] {
  const asRead = (text: string): string => (caseSensitive ? text : text.toLowerCase());
  const isReplaced = (own: Declaration): boolean =>
    declarations.some(
      ({ pattern }) =>
        asRead(pathOf(pattern)) === asRead(pathOf(own.pattern)) &&
        methodsOf(own.pattern).every((method) => matchesMethod(pattern, method)),
    );
  return [...declarations, ...ownRules(base).filter((own) => !isReplaced(own))];
}

/**
 * §3.3: "Public resets to open; auth and role add up." Whoever is let in nowhere (`denyAll`) stays out until a narrower
 * public rule. §3.4: the default is for what no rule matches.
 */
export function fold(
  declarations: readonly Declaration[],
  path: string,
  method: string,
  byDefault: DefaultAccess,
  caseSensitive: boolean,
  decorations: readonly Decoration[] = [],
): State {
  const matching = declarations
    .filter(({ pattern }) => matchesMethod(pattern, method) && matchesPath(pattern, path, caseSensitive))
    .toSorted((a, b) => compareBreadth(a.pattern, b.pattern));
  // Decorators are the narrowest rules: they stand behind every pattern, those of the class first.
  const all = [...matching, ...decorations.map(({ kind, roles }): Declaration => ({ kind, roles, pattern: path }))];
  if (all.length === 0) return BY_DEFAULT[byDefault];
  return all.reduce(apply, OPEN);
}

function apply(state: State, declaration: Declaration): State {
  const closed: State = state.gate === 'open' ? { ...state, gate: 'token' } : state;
  switch (declaration.kind) {
    case 'public':
      return OPEN;
    case 'authenticated':
      return closed;
    case 'denied':
      return { ...closed, gate: 'nobody' };
    case 'anyRole':
      return { ...closed, groups: [...closed.groups, declaration.roles] };
    case 'allRoles':
      return { ...closed, groups: [...closed.groups, ...declaration.roles.map((role) => [role])] };
    case 'policy':
      return { ...closed, policies: [...closed.policies, declaration.name] };
  }
}

/** §3.2: 401 without a valid token on a protected path, 403 with one that does not do; any valid token is a `USER`. */
export function answer({ gate, groups, policies }: State, { roles, satisfies }: Caller): Answer {
  if (gate === 'open') return 'allowed';
  if (!roles) return 401;
  if (gate === 'nobody') return 403;
  const isOneOf = (group: readonly string[]): boolean => group.some((role) => role === 'USER' || roles.includes(role));
  return groups.every(isOneOf) && policies.every((name) => satisfies.includes(name)) ? 'allowed' : 403;
}

/** `roleHierarchy`: what the roles of a token come to, with all that they include. */
export function withIncluded(
  roles: readonly string[],
  hierarchy: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const all = new Set(roles.flatMap((role) => [role, ...(hierarchy[role] ?? [])]));
  return all.size === roles.length ? roles : withIncluded([...all], hierarchy);
}

/** §3.3: "The same pattern for the same method both public and restricted refuses to boot", in whatever letters. */
export function contradict(a: Declaration, b: Declaration): boolean {
  const samePath = pathOf(a.pattern).toLowerCase() === pathOf(b.pattern).toLowerCase();
  const [methods, others] = [methodsOf(a.pattern), methodsOf(b.pattern)];
  // One with and one without methods are a narrower and a broader pattern, not the same.
  const sameMethod = methods.length === 0 ? others.length === 0 : methods.some((method) => others.includes(method));
  return samePath && sameMethod && (a.kind === 'public') !== (b.kind === 'public');
}
