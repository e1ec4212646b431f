import { Injectable } from '@nestjs/common';
import type { AccessRow } from './access-rows.js';
import { SecurityRules } from './security-rules.js';

/** "Who can reach what, and why?", as data: inject it, and read it when the application is up. */
@Injectable()
export class AccessReport {
  constructor(private readonly rules: SecurityRules) {}

  /** One for each method of each route of the application, not only the generated ones. */
  get rows(): readonly AccessRow[] {
    return this.rules.rows;
  }
}
