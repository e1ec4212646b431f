/** Checks the options of `CrudModule.forRoot`. */
import { areSomeNames, describe, expectKnownNames } from '../../options/invalid-option.js';
import { isFunction, isObject, isUndefinedOr, readOptions, refuserOf, row } from '../../options/option-table.js';
import type { Accepts } from '../../options/option-table.js';
import { customOperator, OPERATORS, type FilterOperator, type Operator } from '../sql/operators.js';

export interface CrudModuleOptions {
  /**
   * Operators of `filter[…]` beside the built-in ones.
   * @example operators: [near]
   * @default []
   */
  operators?: readonly FilterOperator[];
  /**
   * Query parameters that code of the application reads: generated operations do not refuse them as unknown.
   * @example ignoredParameters: ['lang', 'access_token']
   * @default []
   */
  ignoredParameters?: readonly string[];
}

export interface ResolvedCrudModuleOptions {
  readonly operators: readonly Operator[];
  readonly ignoredParameters: ReadonlySet<string>;
}

const NAMES =
  'after atomic avg count deleted fields filter format groupBy ids include max min page pagination purge q size sort sum';
const OWN_PARAMETERS = NAMES.split(' ');
const isIgnorable: Accepts = (name) => /^[a-z_][\w.-]*$/i.test(String(name)) && !OWN_PARAMETERS.includes(String(name));

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

/** @throws InvalidOptionError */
export function resolveModuleOptions(options: CrudModuleOptions): ResolvedCrudModuleOptions {
  expectKnownNames('CrudModule options', options, ['operators', 'ignoredParameters']);
  const refuse = refuserOf('CrudModule');
  const { operators = [], ignoredParameters = [] } = options;
  const isList = Array.isArray(ignoredParameters);
  const wrong = isList ? ignoredParameters.filter((name) => typeof name !== 'string' || !isIgnorable(name)) : [];
  if (!isList || wrong.length > 0) {
    const expected = `an array of names such as "lang" other than ${OWN_PARAMETERS.join(', ')}`;
    const got = describe(isList ? wrong[0] : ignoredParameters);
    refuse('ignoredParameters', expected, got, 'name parameters of the application');
  }
  if (!Array.isArray(operators)) refuse('operators', 'an array', describe(operators), 'give for example [near]');
  const names = new Set<string>();
  for (const each of operators as readonly FilterOperator[]) {
    expectKnownNames('CrudModule option `operators`', each, Object.keys(MEMBERS));
    readOptions(MEMBERS, each, (name, ...reason) => refuse(`operators.${String(each.name)}.${name}`, ...reason));
    if (names.has(each.name)) refuse('operators', 'operators of different names', `"${each.name}" twice`, 'rename one');
    names.add(each.name);
  }
  return { operators: operators.map(customOperator), ignoredParameters: new Set(ignoredParameters) };
}
