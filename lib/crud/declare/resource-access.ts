/** The option `access`: who may call the operations of a resource. */
import { areSomeNames, describe } from '../../options/invalid-option.js';
import { isOneOf, type Refuse } from '../../options/option-table.js';
import type { RouteAccess } from '../../routes/declared-route.js';
import type { OperationDeclaration, OperationName } from './operations.js';

/** Everyone, users with a valid token, or users with any of the roles. */
export type OperationAccess = 'public' | 'authenticated' | readonly string[];

/** The access by the name of the operation, those of `operations` included. `read` is every operation of the package that only reads. */
export type ResourceAccess = { readonly [N in 'read' | OperationName | (string & {})]?: OperationAccess };

/**
 * The access of each operation that has one: that of its own entry, or else of the operation that it copies or undoes.
 * @throws InvalidOptionError for an entry of another name, and for one without effect
 */
export function resolveAccess(
  given: ResourceAccess,
  of: string,
  known: readonly OperationDeclaration[],
  standard: readonly OperationDeclaration[],
  generated: ReadonlySet<string>,
  refuse: Refuse,
): ReadonlyMap<string, RouteAccess> {
  const entriesOf = (operation: OperationDeclaration): string[] => {
    const { name, route, copyOf, undoes } = operation;
    const original = known.find((each) => each.name === (copyOf ?? undoes));
    const isRead = route.verb === 'GET' && standard.includes(operation);
    return [name, ...(original ? entriesOf(original) : isRead ? ['read'] : [])];
  };
  const effective = new Set(known.filter(({ name }) => generated.has(name)).flatMap(entriesOf));
  for (const [name, access] of Object.entries(given)) {
    const [names, advice] = [[...effective].join(', '), 'correct or remove it'];
    if (!effective.has(name)) refuse('access', `an object with only the operations ${names}`, `"${name}"`, advice);
    const isAccess = isOneOf('public', 'authenticated')(access) || areSomeNames(access);
    const expected = '"public", "authenticated" or an array of at least one role';
    if (!isAccess) refuse(`access.${name}`, expected, describe(access), 'give for example ["ADMIN"]');
  }
  return new Map(
    known.flatMap((operation) => {
      const entry = entriesOf(operation).find((name) => Object.hasOwn(given, name));
      const access = entry === undefined ? undefined : given[entry];
      if (!access) return [];
      const declared = typeof access === 'string' ? access : { anyOf: [...access] };
      return [[operation.name, { access: declared, declaredBy: `access.${entry}${of}` }]];
    }),
  );
}
