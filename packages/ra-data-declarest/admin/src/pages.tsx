/** The pages of a resource, as its description says. */
import type { FieldDescription, ResourceDescription } from 'ra-data-declarest/description';
import {
  BulkDeleteButton,
  Create,
  Datagrid,
  DeleteButton,
  Edit,
  Labeled,
  List,
  Pagination,
  ReferenceManyField,
  SaveButton,
  Show,
  SimpleForm,
  SimpleShowLayout,
  Toolbar,
  useCanAccess,
  usePermissions,
  useRecordContext,
} from 'react-admin';

import { column, filterInputs, input, labelOf, value } from './fields.js';
import { toValues } from './json-input.js';
import { useService } from './service.js';

interface PageProps {
  readonly resource: ResourceDescription;
}

/** The order of the server, until the user chooses another one. */
const UNSORTED = { field: '', order: 'ASC' } as const;

function useMayDo(action: 'edit' | 'delete', resource: string): boolean {
  return useCanAccess({ resource, action }).canAccess ?? false;
}

/** Whether a role of the user is one of these. Without any, everyone may. */
function useMay(): (roles: readonly string[] | undefined) => boolean {
  const { permissions: own = [] } = usePermissions<string[]>();
  return (roles) => !roles || roles.some((role) => own.includes(role));
}

function useReadFields({ fields }: ResourceDescription): readonly FieldDescription[] {
  const may = useMay();
  return fields.filter(({ isReadable, readers }) => isReadable && may(readers));
}

function useWrittenFields({ fields }: ResourceDescription, isWritten: 'isCreatable' | 'isEditable') {
  const may = useMay();
  return fields.filter((field) => field[isWritten] && may(field.readers) && may(field.writers));
}

/** Long values do not fit into a table. */
const isShort = ({ kind }: FieldDescription): boolean => kind !== 'long text' && kind !== 'json';

export function ResourceList({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useReadFields(resource);
  const mayDelete = useMayDo('delete', resource.name);
  const mayEdit = useMayDo('edit', resource.name) && resource.canEdit;
  const embed = fields.flatMap(({ relation }) => relation ?? []);
  return (
    <List filters={filterInputs(resource, fields, resources)} sort={UNSORTED} queryOptions={{ meta: { embed } }}>
      <Datagrid
        bulkActionButtons={mayDelete && <BulkDeleteButton mutationMode="pessimistic" />}
        rowClick={mayEdit ? 'edit' : resource.canShow && 'show'}
      >
        {fields.filter(isShort).map((field) => column(field, resources))}
      </Datagrid>
    </List>
  );
}

export function ResourceCreate({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useWrittenFields(resource, 'isCreatable');
  return (
    <Create redirect="list" transform={toValues}>
      <SimpleForm sanitizeEmptyValues>{fields.map((field) => input(field, resources, true))}</SimpleForm>
    </Create>
  );
}

/** What the user has typed stays while the record is read again. */
const KEEP_INPUT = { keepDirtyValues: true };

export function ResourceEdit({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useWrittenFields(resource, 'isEditable');
  const mayDelete = useMayDo('delete', resource.name);
  const toolbar = (
    <Toolbar sx={{ justifyContent: 'space-between' }}>
      <SaveButton />
      {mayDelete && <DeleteButton mutationMode="pessimistic" />}
    </Toolbar>
  );
  return (
    <Edit mutationMode="pessimistic" transform={toValues}>
      <SimpleForm toolbar={toolbar} resetOptions={KEEP_INPUT}>
        {fields.map((field) => input(field, resources, false))}
      </SimpleForm>
      <NestedLists of={resource} />
    </Edit>
  );
}

export function ResourceShow({ resource }: PageProps) {
  const { resources } = useService();
  const fields = useReadFields(resource);
  return (
    <Show>
      <SimpleShowLayout>{fields.map((field) => value(field, resources))}</SimpleShowLayout>
      <NestedLists of={resource} />
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
  const mutationOptions = { meta: { [parameter]: record.id } };
  return (
    <Labeled label={labelOf(resource.name.replace(/.*\//, ''))} sx={{ p: 2 }}>
      <ReferenceManyField reference={resource.name} target={parameter} sort={UNSORTED} pagination={<Pagination />}>
        <Datagrid bulkActionButtons={false} rowClick={false} empty={<p>None yet.</p>}>
          {fields.filter(({ name }) => name !== parameter).map((field) => value(field, resources))}
          {mayDelete && <DeleteButton mutationMode="pessimistic" redirect={false} mutationOptions={mutationOptions} />}
        </Datagrid>
      </ReferenceManyField>
    </Labeled>
  );
}
