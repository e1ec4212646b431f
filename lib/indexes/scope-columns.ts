/** The columns that the scope of a resource compares with one value, as far as they are known before any request. */
import type { Field } from '../entities/entity-schema.js';
import { BASE_ROLE } from '../http/caller.js';
import { evaluateRule, rolesIn, type Condition, type Plan } from '../crud/inspect.js';
import { symbolicCalls } from '../reach/symbolic-caller.js';

export interface ScopeColumns {
  /** The columns of each alternative: `[[authorId], [published]]`. */
  readonly alternatives: readonly (readonly Field[])[];
  /** Whether the scope fails for a user whose id and claims stand for any. */
  readonly isUnknown: boolean;
}

/** Calls the scope for a caller without a token, and for users with each role that the resource or the scope names. */
export async function scopeColumnsOf(plan: Plan): Promise<ScopeColumns> {
  const rule = plan.rowRules.find(({ kind }) => kind === 'scope');
  if (!rule) return { alternatives: [], isUnknown: false };
  const roles = new Set([BASE_ROLE, ...rolesIn(plan)]);
  const evaluate = (granted: readonly string[] | undefined) =>
    evaluateRule(rule, { plan, name: 'findAll' }, symbolicCalls(granted, same, [plan], roles)(0, true).call).catch(
      () => undefined,
    );
  const found = [...((await evaluate(undefined))?.reached ?? [])];
  let isUnknown = false;
  // The loop visits the roles that the scope adds, too.
  for (const role of roles) {
    const conditions = await evaluate([role]);
    isUnknown ||= conditions === undefined;
    found.push(...(conditions?.reached ?? []));
  }
  return { alternatives: found.flatMap(comparedFields).map((fields) => [...new Set(fields)]), isUnknown };
}

const same = (roles: readonly string[]): readonly string[] => roles;

const COMPARED: readonly string[] = ['eq', 'in', 'isNull'];

/** The columns of each alternative of a condition. */
function comparedFields(condition: Condition): (readonly Field[])[] {
  if (condition.kind === 'compare') return [COMPARED.includes(condition.operator.name) ? [condition.field] : []];
  if (condition.kind === 'or') return condition.parts.flatMap(comparedFields);
  if (condition.kind !== 'and') return [[]];
  return condition.parts.reduce<(readonly Field[])[]>(
    (found, part) => found.flatMap((left) => comparedFields(part).map((right) => [...left, ...right])),
    [[]],
  );
}
