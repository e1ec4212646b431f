import type { Condition } from '../sql/condition.js';

/** A condition that a record must meet to be changed, and the answer where it does not. */
export interface Guard {
  readonly condition: Condition;
  refuse(): Error;
}
