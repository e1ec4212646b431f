/** The access rules: one covers the protected requests, at four fifths of the list; the others match other paths. */
import { PROTECTED, RECORD_RULES, RULES } from './settings.js';

export interface Rule {
  /** A path, or with `/**` at its end a path and everything below it. */
  readonly pattern: string;
  /** Without a role, any valid token is enough. */
  readonly role?: string;
}

const otherRule = (index: number): Rule => ({
  pattern: RECORD_RULES && index % 2 === 0 ? `${PROTECTED}/special-${index}` : `/api/area-${index}/**`,
  role: 'ADMIN',
});

export const rules: readonly Rule[] = Array.from({ length: RULES }, (_, index) =>
  index === Math.floor(RULES * 0.8) ? { pattern: `${PROTECTED}/**` } : otherRule(index),
);

/** The rules of an application without a rule engine: a list, searched for the first match. */
export const regexRules = rules.map(({ pattern, role }) => ({
  path: new RegExp(`^${pattern.replace('/**', '(?:/.*)?')}$`),
  role,
}));
