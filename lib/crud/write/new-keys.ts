/** Refuses keys of new records that no URL reaches, and those that would leave no key to the database. */
import type { Field } from '../../entities/entity-schema.js';
import { keyText } from '../../entities/entity-key.js';
import { isMysql, isPostgres } from '../../entities/database-family.js';
import type { Values } from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import type { Plan } from '../plan/plan.js';

/** URL parsers remove them from a path. */
const WITHOUT_PATH = ['', '.', '..'];

export function keyErrors(plan: Plan, values: Values): FieldError[] {
  const { fields } = plan.schema.key;
  return fields.flatMap((field) => {
    const value = values.get(field);
    if (value == null) return [];
    const text = keyText(field.type.write(value));
    const isPath = fields.length === 1 && (WITHOUT_PATH.includes(text) || plan.reservedKeys.has(text.toLowerCase()));
    const message = isPath
      ? `must be a key that a path can have, got ${JSON.stringify(text)}, which leads elsewhere`
      : generatorError(plan, field, text);
    return message === undefined ? [] : [{ field: field.name, message }];
  });
}

/** SQLite, MySQL and MariaDB generate keys above the greatest one. PostgreSQL has a sequence. */
function generatorError({ database: { dataSource } }: Plan, { column, type }: Field, text: string): string | undefined {
  if (column.generationStrategy !== 'increment' || isPostgres(dataSource)) return undefined;
  if (text === '0' && isMysql(dataSource)) return 'must not be 0, for which the database generates a key';
  const key = BigInt(text);
  const leavesRoom = key <= 0n || 'value' in type.readText(String(key + key / 15n));
  return leavesRoom ? undefined : `must leave the last sixteenth of the range to generated keys, got ${text}`;
}
