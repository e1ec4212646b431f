/** The rules of the protected requests: one that governs them, at four fifths of the list, and others for elsewhere. */
import { PROTECTED, RULES } from './settings.js';

export interface Rule {
  /** As declarest writes it: everything at and below the path. */
  readonly pattern: `${string}/**`;
  /** Without one any valid token will do. */
  readonly role?: string;
}

const governing: Rule = { pattern: `${PROTECTED}/**` };

export const rules: readonly Rule[] = Array.from({ length: RULES }, (_, index) =>
  index === Math.floor(RULES * 0.8) ? governing : { pattern: `/api/area-${index}/**`, role: 'ADMIN' },
);

/** As a service without a rule engine has them: a list that is gone through until one matches. */
export const regexRules = rules.map(({ pattern, role }) => ({
  path: new RegExp(`^${pattern.replace('/**', '(?:/.*)?$')}`),
  role,
}));
