import type { RaRecord } from 'react-admin';

/** @param path with dots inside of embedded objects: `address.city` */
export const valueAt = (record: RaRecord, path: string): unknown =>
  path.split('.').reduce<unknown>((within, name) => (within as RaRecord | null)?.[name], record);
