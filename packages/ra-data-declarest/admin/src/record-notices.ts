import { type RaRecord, useGetRecordRepresentation, useNotify } from 'react-admin';

/** Tells what has happened to a record: "Bread knife is saved". */
export function useNotifyOf(resource: string) {
  const notify = useNotify();
  const nameOf = useGetRecordRepresentation(resource);
  return (record: RaRecord, outcome: string) => notify(`${String(nameOf(record))} is ${outcome}`);
}
