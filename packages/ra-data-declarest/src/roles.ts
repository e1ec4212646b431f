/** The roles that a description names. */

interface Resource {
  readonly fields: readonly { readonly readers?: readonly string[]; readonly writers?: readonly string[] }[];
  readonly deletion?: { readonly roles: readonly string[] };
}

type Paths = Readonly<Record<string, Readonly<Record<string, { readonly 'x-access'?: { readonly access: string } }>>>>;

/** Access without the names of roles. */
const NAMELESS: unknown[] = ['public', 'any token', 'nobody'];
/** One of the names in `ADMIN or "shop keeper", and policy owner`. */
const NAME = /(policy )?("(?:\\.|[^"\\])*"|[\w.:@/-]+)(?:, and | or |$)/g;
/** Each service with users has them. */
const USUAL = ['USER', 'ADMIN'];
/** Those of requests, by a key or without. No user has them. */
const OF_REQUESTS = new Set(['KEY', 'LOGIN']);

export function rolesOf(resources: readonly Resource[], paths: Paths): string[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const ofOperations = operations.flatMap(({ 'x-access': access }) => (access ? namesIn(access.access) : []));
  const ofFields = resources.flatMap(({ fields, deletion }) => [
    ...fields.flatMap(({ readers = [], writers = [] }) => [...readers, ...writers]),
    ...(deletion?.roles ?? []),
  ]);
  const roles = new Set([...USUAL, ...ofOperations, ...ofFields]);
  return [...roles].filter((role) => !OF_REQUESTS.has(role)).toSorted();
}

function namesIn(access: string): string[] {
  if (NAMELESS.includes(access)) return [];
  return [...access.matchAll(NAME)].flatMap(([, policy, name = '']) => {
    if (policy !== undefined) return [];
    return name.startsWith('"') ? (JSON.parse(name) as string) : name;
  });
}
