/** The pages of a record, as its description says. */
import type { ResourceDescription } from 'ra-data-declarest/description';
import { type ReactNode, useEffect, useState } from 'react';
import {
  Create,
  Datagrid,
  DeleteButton,
  Edit,
  EditButton,
  Labeled,
  Pagination,
  type RaRecord,
  ReferenceManyField,
  SaveButton,
  Show,
  ShowButton,
  SimpleForm,
  SimpleShowLayout,
  Toolbar,
  TopToolbar,
  useLocation,
  useRecordContext,
  useRedirect,
} from 'react-admin';

import { ActionButtons } from './action-buttons.js';
import { useConflictDialog } from './conflict-dialog.js';
import { cell, input, labelOf, value } from './fields.js';
import { FirstFocus } from './first-focus.js';
import { toValues } from './json-input.js';
import { BELOW_FORM, UNSORTED } from './list-page.js';
import { useMayDo, useReadFields, useWrittenFields } from './permitted.js';
import { EditFailure, NoRows, READING, ShowFailure } from './read-failure.js';
import { useNotifyOf } from './record-notices.js';
import { ReferringLists } from './referring-lists.js';
import { useService } from './service.js';
import { WaysIn } from './ways-in.js';

interface PageProps {
  readonly resource: ResourceDescription;
}

/** Offline, a change fails at once, and is not sent later without a word. */
const WRITING = { networkMode: 'always' } as const;

/** Leaves a saved form for another page, once the form does not ask about unsaved changes any more. */
function usePageAfterSave(resource: string, page: 'list' | 'edit' | 'show', outcome: string) {
  const [saved, setSaved] = useState<RaRecord>();
  const notify = useNotifyOf(resource);
  const redirect = useRedirect();
  useEffect(() => {
    if (saved) redirect(page, resource, saved.id);
  }, [saved, redirect, resource, page]);
  // The component stays if another record is opened before the list shows.
  const location = useLocation();
  useEffect(() => setSaved(undefined), [location]);
  const onSuccess = (record: RaRecord) => {
    notify(record, outcome);
    setSaved(record);
  };
  return { isSaved: saved !== undefined, onSuccess };
}

/** It stays in view below a long form. */
const STICKY = { bottom: 0, position: 'sticky', zIndex: 1 } as const;
const FOOT = { ...STICKY, justifyContent: 'space-between', '&.RaToolbar-mobileToolbar': STICKY } as const;

function FormToolbar({ children }: { readonly children?: ReactNode }) {
  return (
    <Toolbar sx={FOOT}>
      <SaveButton />
      {children}
    </Toolbar>
  );
}

export function ResourceCreate({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useWrittenFields(resource, 'isCreatable');
  // The filters of the list could hide the new record.
  const pageOf = resource.canShow ? 'show' : 'list';
  const { isSaved, onSuccess } = usePageAfterSave(resource.name, resource.canEdit ? 'edit' : pageOf, 'created');
  return (
    <Create transform={toValues} mutationOptions={{ ...WRITING, onSuccess }}>
      <SimpleForm sanitizeEmptyValues toolbar={<FormToolbar />} warnWhenUnsavedChanges={!isSaved}>
        <FirstFocus>{fields.map((field) => input(field, resources, true))}</FirstFocus>
      </SimpleForm>
    </Create>
  );
}

/** What the user has typed stays while the record is read again. */
const KEEP_INPUT = { keepDirtyValues: true };

export function ResourceEdit({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useWrittenFields(resource, 'isEditable');
  const mayDelete = useMayDo('delete', resource.name);
  const { isSaved, onSuccess } = usePageAfterSave(resource.name, 'list', 'saved');
  const { onError, dialog } = useConflictDialog(resource, fields, onSuccess);
  const restorable = resource.deletion?.canRestore && {
    confirmContent: 'It can be restored: lists show deleted records by a filter.',
  };
  const toolbar = <FormToolbar>{mayDelete && <DeleteButton mutationMode="pessimistic" {...restorable} />}</FormToolbar>;
  // It stays where a later read of the record fails.
  const form = (
    <>
      <SimpleForm toolbar={toolbar} resetOptions={KEEP_INPUT} warnWhenUnsavedChanges={!isSaved}>
        {fields.map((field) => input(field, resources, false))}
      </SimpleForm>
      <NestedLists of={resource} />
      <ReferringLists to={resource} />
      {resource.accounts && <WaysIn of={resource} />}
      {dialog}
    </>
  );
  return (
    <Edit
      mutationMode="pessimistic"
      transform={toValues}
      queryOptions={READING}
      mutationOptions={{ ...WRITING, onError, onSuccess }}
      actions={
        <TopToolbar>
          {resource.canShow && <ShowButton />}
          <ActionButtons resource={resource} />
        </TopToolbar>
      }
      render={({ record }) => (record ? form : <EditFailure />)}
    />
  );
}

export function ResourceShow({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useReadFields(resource);
  return (
    <Show
      queryOptions={READING}
      error={<ShowFailure />}
      actions={
        <TopToolbar>
          {resource.canEdit && <EditButton />}
          <ActionButtons resource={resource} />
        </TopToolbar>
      }
    >
      <SimpleShowLayout>{fields.map((field) => value(field, resources))}</SimpleShowLayout>
      <NestedLists of={resource} />
      <ReferringLists to={resource} />
    </Show>
  );
}

function NestedLists({ of: { name } }: { readonly of: ResourceDescription }) {
  const nested = useService().resources.filter(({ parent }) => parent?.resource === name);
  return nested.map((resource) => <NestedList key={resource.name} resource={resource} />);
}

/** The records below the record on the page. Their paths have its key, so they have no pages of their own. */
function NestedList({ resource }: PageProps) {
  const { resources } = useService();
  const record = useRecordContext();
  const fields = useReadFields(resource);
  const mayDelete = useMayDo('delete', resource.name);
  const { parameter = '' } = resource.parent ?? {};
  if (!record) return null;
  const mutationOptions = { ...WRITING, meta: { [parameter]: record.id } };
  return (
    <Labeled label={labelOf(resource.name.replace(/.*\//, ''))} sx={BELOW_FORM}>
      <ReferenceManyField
        reference={resource.name}
        target={parameter}
        sort={UNSORTED}
        pagination={<Pagination />}
        queryOptions={READING}
      >
        <Datagrid bulkActionButtons={false} rowClick={false} empty={<NoRows />}>
          {fields.filter(({ name }) => name !== parameter).map((field) => cell(field, resources))}
          {mayDelete && <DeleteButton mutationMode="pessimistic" redirect={false} mutationOptions={mutationOptions} />}
        </Datagrid>
      </ReferenceManyField>
    </Labeled>
  );
}
