/** Conditions and refusals as short texts, for the tables of these tests. */
import type { BadRequestException } from '@nestjs/common';
import type { Condition } from '../../../lib/crud/sql/condition.js';
import type { FieldError } from '../../../lib/http/failure.js';

/** `(price gte 10 & author{name eq "Ann"})` */
export function show(condition: Condition): string {
  switch (condition.kind) {
    case 'compare':
      return [
        condition.field.name,
        condition.operator.name,
        ...condition.values.map((each) => JSON.stringify(each)),
      ].join(' ');
    case 'unless':
      return `!${show(condition.part)}`;
    case 'related':
      return `${condition.relation.propertyPath}{${show(condition.part)}}`;
    case 'raw':
      return `raw ${condition.write(condition.field.name)} ${JSON.stringify(condition.parameters)}`;
    case 'indexed':
      return `${condition.table}.${condition.key.name} holds ${JSON.stringify(condition.text)}`;
    default: {
      if (condition.parts.length === 0) return condition.kind === 'and' ? 'all' : 'none';
      return `(${condition.parts.map(show).join(condition.kind === 'and' ? ' & ' : ' | ')})`;
    }
  }
}

/** `sort: must name at least one field` for each wrong parameter. */
export function wrong(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    const { errors } = (error as BadRequestException).getResponse() as { errors: FieldError[] };
    return errors.map(({ field, message }) => `${field}: ${message}`);
  }
  return ['accepted'];
}
