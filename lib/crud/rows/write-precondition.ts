import type { Condition } from '../sql/condition.js';

/** A condition that a record must meet to be changed, and the answer where it does not. */
export interface WritePrecondition {
  readonly condition: Condition;
  refuse(): Error;
}
