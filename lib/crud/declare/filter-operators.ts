/** Checks the operators of `CrudModule.forRoot`. */
import { areSomeNames, describe, expectKnownNames } from '../../options/invalid-option.js';
import { isFunction, isObject, isUndefinedOr, readOptions, refuserOf, row } from '../../options/option-table.js';
import type { Accepts } from '../../options/option-table.js';
import { customOperator, OPERATORS, type FilterOperator, type Operator } from '../sql/operators.js';

export interface CrudModuleOptions {
  /**
   * Operators of `filter[…]` beside the built-in ones.
   * @example operators: [near]
   */
  operators: readonly FilterOperator[];
}

const isName: Accepts = (name) => /^[a-z]\w*$/i.test(String(name)) && !(String(name) in OPERATORS);
const isText: Accepts = (text) => typeof text === 'string' && text !== '';
const part = (expected: string, accepts: Accepts) => row<unknown>(undefined, expected, accepts, 'correct the operator');

const MEMBERS = {
  name: part('a word that is no built-in operator', isName),
  takes: part('an array of kinds or types of columns', areSomeNames),
  expected: part('a text such as "a number and a distance"', isText),
  schema: part('a JSON Schema', isUndefinedOr(isObject)),
  read: part('a function that returns the values to bind', isFunction),
  sql: part('a function that returns SQL with the placeholders that it gets', isFunction),
};

export function resolveOperators(options: CrudModuleOptions): readonly Operator[] {
  expectKnownNames('CrudModule options', options, ['operators']);
  const refuse = refuserOf('CrudModule');
  const { operators } = options;
  if (!Array.isArray(operators)) refuse('operators', 'an array', describe(operators), 'give for example [near]');
  const names = new Set<string>();
  for (const each of operators as readonly FilterOperator[]) {
    expectKnownNames('CrudModule option `operators`', each, Object.keys(MEMBERS));
    readOptions(MEMBERS, each, (name, ...reason) => refuse(`operators.${String(each.name)}.${name}`, ...reason));
    if (names.has(each.name)) refuse('operators', 'operators of different names', `"${each.name}" twice`, 'rename one');
    names.add(each.name);
  }
  return operators.map(customOperator);
}
