import { BadRequestException } from '@nestjs/common';
import type { FieldError } from '../../http/failure.js';

/** The wrong parameters of a query string. */
export class QueryErrors {
  private readonly found: FieldError[] = [];
  private readonly listed = new Set<string>();

  get isEmpty(): boolean {
    return this.found.length === 0;
  }

  add(field: string, message: string): void {
    this.found.push({ field, message });
  }

  /** The allowed names are listed once: with each error, the answer would be many times the request. */
  addUnknown(field: string, noun: string, allowed: readonly string[], name?: string): void {
    const list = allowed.length === 0 ? 'none is known' : `known ones are ${allowed.join(', ')}`;
    const hint = this.listed.has(`${noun} ${list}`) ? '' : `; ${list}`;
    this.listed.add(`${noun} ${list}`);
    this.add(field, `unknown ${noun}${name === undefined ? '' : ` ${JSON.stringify(name)}`}${hint}`);
  }

  /** Names every wrong parameter. */
  get exception(): BadRequestException {
    return new BadRequestException({ message: 'The query is not valid', errors: this.found });
  }

  /** @throws 400 */
  throwIfAny(): void {
    if (!this.isEmpty) throw this.exception;
  }
}
