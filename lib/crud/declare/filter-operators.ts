/** Checks the operators of `CrudModule.forRoot`. */
import { areNames, describe, expectKnownNames } from '../../options/invalid-option.js';
import { isFunction, isObject, isUndefinedOr, refuserOf, type Accepts } from '../../options/option-table.js';
import { customOperator, OPERATORS, type FilterOperator, type Operator } from '../sql/operators.js';

export interface CrudModuleOptions {
  /**
   * Operators of `filter[…]` beside the built-in ones.
   * @example operators: [near]
   */
  operators: readonly FilterOperator[];
}

const isName: Accepts = (name) => /^[a-z]\w*$/i.test(String(name)) && !(String(name) in OPERATORS);
const areKinds: Accepts = (takes) => areNames(takes) && (takes as readonly string[]).length > 0;
const isText: Accepts = (text) => typeof text === 'string' && text !== '';

const MEMBERS: Readonly<Record<string, readonly [accepts: Accepts, expected: string]>> = {
  name: [isName, 'a word that is no built-in operator'],
  takes: [areKinds, 'an array of kinds or types of columns'],
  expected: [isText, 'a text such as "a number and a distance"'],
  schema: [isUndefinedOr(isObject), 'a JSON Schema'],
  read: [isFunction, 'a function that returns the values to bind'],
  sql: [isFunction, 'a function that returns SQL with the placeholders that it gets'],
};

/** @throws InvalidOptionError */
export function resolveOperators(options: CrudModuleOptions): readonly Operator[] {
  expectKnownNames('CrudModule options', options, ['operators']);
  const refuse = refuserOf('CrudModule');
  const { operators } = options;
  if (!Array.isArray(operators)) refuse('operators', 'an array', describe(operators), 'give for example [near]');
  const names = new Set<string>();
  for (const each of operators as readonly FilterOperator[]) {
    expectKnownNames('CrudModule option `operators`', each, Object.keys(MEMBERS));
    for (const [member, [accepts, expected]] of Object.entries(MEMBERS)) {
      const value: unknown = each[member as keyof FilterOperator];
      if (!accepts(value))
        refuse(`operators.${each.name}.${member}`, expected, describe(value), 'correct the operator');
    }
    if (names.has(each.name)) refuse('operators', 'operators of different names', `"${each.name}" twice`, 'rename one');
    names.add(each.name);
  }
  return operators.map(customOperator);
}
