import type { Field } from './entity-schema.js';

export interface Permissions {
  canRead(field: Field): boolean;
  canInsert(field: Field): boolean;
  canUpdate(field: Field): boolean;
}

export const UNRESTRICTED: Permissions = {
  canRead: ({ readable }) => readable,
  canInsert: ({ insertable }) => insertable,
  canUpdate: ({ updatable }) => updatable,
};

export const isKnownTo = (field: Field, { canRead, canInsert, canUpdate }: Permissions): boolean =>
  canRead(field) || canInsert(field) || canUpdate(field);
