/** The list of a resource, as its description says. */
import type { FieldDescription, ResourceDescription } from 'ra-data-declarest/description';
import {
  BulkDeleteButton,
  CreateButton,
  Datagrid,
  FilterButton,
  List,
  Pagination,
  type RaRecord,
  SortButton,
  TopToolbar,
  useListContext,
  useResourceDefinition,
} from 'react-admin';

import { ListActionButtons } from './action-buttons.js';
import { Cards, useIsNarrow } from './cards.js';
import { DeletedActions } from './deleted-actions.js';
import { WholeExportButton } from './export-button.js';
import { column, RecordLink } from './fields.js';
import { filterInputs } from './filters.js';
import { useMay, useMayDo, useReadFields } from './permitted.js';
import { ListFailure, READING } from './read-failure.js';
import { useService } from './service.js';

/** The order of the server, until the user chooses another one. */
export const UNSORTED = { field: '', order: 'ASC' } as const;

/** Of a list below the form of a record. A table that is wider scrolls. */
export const BELOW_FORM = { boxSizing: 'border-box', maxWidth: '100%', p: 2 } as const;

/** Long values do not fit into a table. */
const isShort = ({ kind }: FieldDescription): boolean => kind !== 'long text' && kind !== 'json';

/** What the server counts for `If-Match` says nothing to people. */
const isVersion = ({ name, isCreatable, isEditable }: FieldDescription): boolean =>
  name === 'version' && !isCreatable && !isEditable;

/** The column is empty in most lists. */
const UNSEEN = <span style={{ clipPath: 'inset(50%)', position: 'absolute' }}>Actions</span>;

export function ResourceList({ resource }: { readonly resource: ResourceDescription }) {
  const { name, title, canEdit, canShow } = resource;
  const { resources } = useService();
  const fields = useReadFields(resource);
  const mayDelete = useMayDo('delete', name);
  const mayEdit = useMayDo('edit', name) && canEdit;
  const embed = fields.flatMap(({ relation }) => relation ?? []);
  const page = mayEdit ? 'edit' : canShow && 'show';
  const may = useMay();
  const deletion = resource.deletion && may(resource.deletion.roles) ? resource.deletion : undefined;
  const columns = fields.filter(
    (field) => isShort(field) && !isVersion(field) && field.name !== resource.deletion?.field,
  );
  const isDeleted = (record: RaRecord): boolean => Boolean(deletion && record[deletion.field]);
  const linked = columns.find((field) => field.name === title) ?? columns[0];
  const filters = filterInputs(resource.hasSearch, deletion !== undefined, fields, resources);
  const sorts = columns.flatMap(({ name: field, isSortable, sortBy = field }) => (isSortable ? [sortBy] : []));
  const cells = columns.map((field) =>
    field === linked && page ? (
      <RecordLink
        key={field.name}
        source={field.name}
        sortable={field.isSortable}
        field={field}
        page={page}
        isDeleted={isDeleted}
      />
    ) : (
      column(field, resources)
    ),
  );
  if (deletion)
    cells.push(<DeletedActions key="" source="" label={UNSEEN} deletion={deletion} mayDelete={mayDelete} />);
  const isNarrow = useIsNarrow();
  return (
    <List
      filters={filters}
      actions={<ListActions resource={resource} hasFilters={filters.length > 0} sorts={isNarrow ? sorts : []} />}
      sort={UNSORTED}
      queryOptions={{ ...READING, meta: { embed } }}
      error={<ListFailure />}
      pagination={<ListPagination />}
    >
      {isNarrow ? (
        <Cards columns={cells} />
      ) : (
        <Datagrid
          bulkActionButtons={mayDelete && <BulkDeleteButton mutationMode="pessimistic" />}
          isRowSelectable={(record) => !isDeleted(record)}
          rowClick={(_id, _resource, record) => !isDeleted(record) && page}
        >
          {cells}
        </Datagrid>
      )}
    </List>
  );
}

interface ActionsProps {
  readonly resource: ResourceDescription;
  readonly hasFilters: boolean;
  /** What a list without a table is sorted by. */
  readonly sorts: string[];
}

function ListActions({ resource, hasFilters, sorts }: ActionsProps) {
  const { hasCreate } = useResourceDefinition({ resource: resource.name });
  return (
    <TopToolbar>
      {hasFilters && <FilterButton />}
      {sorts.length > 0 && <SortButton fields={sorts} label="Sort" />}
      {hasCreate && <CreateButton />}
      <WholeExportButton resource={resource} />
      <ListActionButtons resource={resource} />
    </TopToolbar>
  );
}

function ListPagination() {
  const { error } = useListContext();
  return error ? null : <Pagination />;
}
