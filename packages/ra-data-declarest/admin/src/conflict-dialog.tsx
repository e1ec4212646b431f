/** Shows both versions of a record that two users have changed, and saves the one that the user chooses for each field. */
import { isEqual } from 'declarest-client/providers';
import type { Conflict } from 'ra-data-declarest';
import type { FieldDescription, ResourceDescription } from 'ra-data-declarest/description';
import { type ReactNode, useState } from 'react';
import {
  Confirm,
  type HttpError,
  type RaRecord,
  RecordContextProvider,
  type UpdateParams,
  useNotify,
  useUpdate,
} from 'react-admin';

import { labelOf, value } from './fields.js';
import { useService } from './service.js';

interface Attempt extends Conflict<RaRecord> {
  readonly params: UpdateParams;
}

/**
 * @param fields that the user may write
 * @param onSuccess of the update, which follows one by the dialog too
 * @returns `onError` of the update, and the dialog that it opens
 */
export function useConflictDialog(
  { name }: ResourceDescription,
  fields: readonly FieldDescription[],
  onSuccess: (saved: RaRecord) => void,
) {
  const { data } = useService();
  const notify = useNotify();
  const [attempt, setAttempt] = useState<Attempt>();

  const onError = async (error: unknown, params: Partial<UpdateParams>): Promise<void> => {
    if ((error as HttpError).status !== 412) return;
    try {
      setAttempt({ ...(await data.readConflict(name, params as UpdateParams)), params: params as UpdateParams });
    } catch (failure) {
      notify((failure as Error).message, { type: 'error' });
    }
  };
  const close = () => setAttempt(undefined);
  const props = { resource: name, fields, onError, onSuccess, close };
  return { onError, dialog: attempt && <ConflictDialog {...props} attempt={attempt} /> };
}

const CHANGED = 'Somebody else has changed this record.';

interface DialogProps {
  readonly resource: string;
  readonly fields: readonly FieldDescription[];
  readonly attempt: Attempt;
  readonly onError: (error: unknown, params: Partial<UpdateParams>) => Promise<void>;
  readonly onSuccess: (saved: RaRecord) => void;
  readonly close: () => void;
}

function ConflictDialog({ resource, fields: written, attempt, onError, onSuccess, close }: DialogProps) {
  const { current, fields, params } = attempt;
  const { resources } = useService();
  const notify = useNotify();
  const [update, { isPending }] = useUpdate();
  const [theirNames, setTheirNames] = useState<readonly string[]>([]);
  const mine = fields.filter(({ isMine }) => isMine);
  const both = mine.filter(({ before, theirs: other }) => !isEqual(before, other));
  const onlyMine = mine.filter((field) => !both.includes(field));
  const theirs = fields.filter(({ name, isMine }) => !isMine && written.some((field) => field.name === name));

  const show = (name: string, shown: unknown): ReactNode => {
    const field = written.find((each) => each.name === name);
    const record = { ...current, [name]: shown };
    if (!field || shown === null) return JSON.stringify(shown ?? null);
    return <RecordContextProvider value={record}>{value(field, resources)}</RecordContextProvider>;
  };
  const choose = (name: string, isTheirs: boolean) =>
    setTheirNames((names) => [...names.filter((each) => each !== name), ...(isTheirs ? [name] : [])]);
  const save = () => {
    const kept = mine.filter(({ name }) => !theirNames.includes(name)).map((field) => [field.name, field.mine]);
    const data = { ...current, ...Object.fromEntries(kept) } as RaRecord;
    const onFailure = (error: unknown, failed: Partial<UpdateParams>) => {
      notify((error as Error).message, { type: 'error' });
      close();
      return onError(error, failed);
    };
    const options = { mutationMode: 'pessimistic', onSuccess, onError: onFailure } as const;
    void update(resource, { ...params, data, previousData: current }, options);
  };
  const content = (
    <>
      {both.map(({ name, mine: own, theirs: other }) => (
        <fieldset key={name} style={{ margin: '0 0 1em' }}>
          <legend>{labelOf(name)}</legend>
          {[false, true].map((isTheirs) => (
            <label key={String(isTheirs)} style={{ display: 'block', padding: '0.25em' }}>
              <input
                type="radio"
                name={name}
                checked={theirNames.includes(name) === isTheirs}
                onChange={() => choose(name, isTheirs)}
              />{' '}
              {isTheirs ? 'Theirs' : 'Yours'}: {show(name, isTheirs ? other : own)}
            </label>
          ))}
        </fieldset>
      ))}
      {onlyMine.map(({ name, mine: own }) => (
        <p key={name}>
          {labelOf(name)} is yours: {show(name, own)}
        </p>
      ))}
      {theirs.map(({ name, theirs: other }) => (
        <p key={name}>
          {labelOf(name)} stays as they changed it: {show(name, other)}
        </p>
      ))}
    </>
  );
  return (
    <Confirm
      isOpen
      loading={isPending}
      title={both.length > 0 ? `${CHANGED} Choose the values to keep.` : `${CHANGED} Save yours too?`}
      content={content}
      confirm="ra.action.save"
      onConfirm={save}
      onClose={close}
    />
  );
}
