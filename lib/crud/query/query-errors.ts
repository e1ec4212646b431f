import { BadRequestException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import { fieldError, type FieldError } from '../../http/failure.js';

export class QueryErrors {
  private readonly found: FieldError[] = [];
  private readonly listed = new Set<string>();

  get isEmpty(): boolean {
    return this.found.length === 0;
  }

  add(field: string, message: string, hint = ''): undefined {
    this.found.push(fieldError(field, message, hint));
  }

  addRepeated(field: string): undefined {
    this.add(field, 'must be sent once, got several');
  }

  /** The allowed names are listed once: with each error, the answer would be many times the request. */
  addUnknown(field: string, noun: string, allowed: readonly string[], name?: string): undefined {
    const list = allowed.length === 0 ? 'none is known' : `known ones are ${allowed.join(', ')}`;
    const hint = this.listed.has(`${noun} ${list}`) ? '' : `; ${list}`;
    this.listed.add(`${noun} ${list}`);
    this.add(field, `unknown ${noun}${name === undefined ? '' : ` ${JSON.stringify(name)}`}`, hint);
  }

  namesIn(parameter: string, text: string, noun = 'field'): string[] {
    if (text !== '') return text.split(',');
    this.add(parameter, `must name at least one ${noun}`);
    return [];
  }

  /** The field of each name; `undefined` where it is unknown, or not the first of its name. */
  fieldsOf(parameter: string, names: readonly string[], known: ReadonlyMap<string, Field>): (Field | undefined)[] {
    const earlier = new Set<Field>();
    return names.map((name) => {
      const field = known.get(name);
      if (!field) return this.addUnknown(parameter, 'field', [...known.keys()], name);
      return earlier.has(field) ? this.add(parameter, `must name ${name} once`) : (earlier.add(field), field);
    });
  }

  /** @throws 400 */
  throwIfAny(): void {
    if (!this.isEmpty) throw invalidQuery(this.found);
  }
}

const invalidQuery = (errors: readonly FieldError[]): BadRequestException =>
  new BadRequestException({ message: 'The query is not valid', errors });

/** For what shows only after the whole query was read. @throws 400 */
export function refuseParameter(field: string, message: string): never {
  throw invalidQuery([{ field, message }]);
}
