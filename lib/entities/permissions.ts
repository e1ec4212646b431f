import type { Field } from './entity-schema.js';

/** What the sender of a request may do with each field. */
export interface Permissions {
  canRead(field: Field): boolean;
  /** On a new record. */
  canInsert(field: Field): boolean;
  canUpdate(field: Field): boolean;
}

/** What the entity itself says of its columns. */
export const UNRESTRICTED: Permissions = {
  canRead: ({ readable }) => readable,
  canInsert: ({ insertable }) => insertable,
  canUpdate: ({ updatable }) => updatable,
};

/** Whether messages may name the field. */
export const isKnownTo = (field: Field, { canRead, canInsert, canUpdate }: Permissions): boolean =>
  canRead(field) || canInsert(field) || canUpdate(field);
