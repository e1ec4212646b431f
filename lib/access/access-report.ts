import { Injectable } from '@nestjs/common';
import { AccessRules } from './access-rules.js';
import type { AccessRow } from './access-rows.js';

/**
 * Who has access to which route, and why, as data. Inject it, and read it after the application has started.
 *
 * @example const open = app.get(AccessReport).rows.filter(({ access }) => access === 'public');
 */
@Injectable()
export class AccessReport {
  constructor(private readonly rules: AccessRules) {}

  /** One row for each method of each route of the application, generated or not. Empty before the start. */
  get rows(): readonly AccessRow[] {
    return this.rules.compiled?.rows ?? [];
  }
}
