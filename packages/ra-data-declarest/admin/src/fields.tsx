/** The components of a field: its column and its input. */
import type { FieldDescription, ResourceDescription } from 'ra-data-declarest/description';
import type { ReactElement } from 'react';
import {
  AutocompleteArrayInput,
  AutocompleteInput,
  BooleanField,
  BooleanInput,
  DateField,
  DateInput,
  DateTimeInput,
  type FieldProps,
  FunctionField,
  Link,
  NullableBooleanInput,
  NumberField,
  NumberInput,
  type RaRecord,
  RecordRepresentation,
  ReferenceArrayField,
  ReferenceArrayInput,
  ReferenceField,
  ReferenceInput,
  required,
  SelectInput,
  TextField,
  TextInput,
  useCreatePath,
  useGetPathForRecord,
  useRecordContext,
  useResourceContext,
} from 'react-admin';

import { parseBigInteger } from './big-integer.js';
import { StoredFileField, StoredFileInput } from './files.js';
import { JsonInput } from './json-input.js';
import { moneyOf } from './money.js';
import { SuggestedInput } from './suggested-input.js';
import { valueAt } from './value-at.js';

type Resources = readonly ResourceDescription[];

/** The resource that a field refers to, unless the user may not read it. */
export const referenceOf = ({ reference }: FieldDescription, resources: Resources): ResourceDescription | undefined =>
  resources.find(({ name }) => name === reference);

/** Shows the value in a list. References to records that the list includes need no request. */
export function column(field: FieldDescription, resources: Resources): ReactElement {
  const { name, relation, isSortable, sortBy = name } = field;
  const reference = referenceOf(field, resources);
  if (!reference || relation === undefined) return cell(field, resources);
  const props = { source: name, sortable: isSortable, sortBy, relation, reference: reference.name };
  return <IncludedReference key={name} {...props} />;
}

/** Shows the value in a list that includes no other records. */
export function cell(field: FieldDescription, resources: Resources): ReactElement {
  const { name, file } = field;
  if (!file) return value(field, resources);
  return <StoredFileField key={name} source={name} sortable={false} file={file} isSmall />;
}

interface IncludedReferenceProps extends FieldProps {
  readonly source: string;
  readonly relation: string;
  readonly reference: string;
}

function IncludedReference({ source, relation, reference }: IncludedReferenceProps) {
  const record = useRecordContext();
  const included = record?.[relation] as RaRecord | null | undefined;
  const related = included && { ...included, id: record?.[source] as RaRecord['id'] };
  const path = useGetPathForRecord({ resource: reference, ...(related && { record: related }) });
  if (!related) return <TextField source={source} />;
  const title = <RecordRepresentation resource={reference} record={related} />;
  return path ? (
    <Link to={path} onClick={stopPropagation}>
      {title}
    </Link>
  ) : (
    title
  );
}

/** A click on the row opens its own record. */
const stopPropagation = (event: { stopPropagation(): void }): void => event.stopPropagation();

interface RecordLinkProps {
  readonly source: string;
  readonly sortable: boolean;
  readonly field: FieldDescription;
  readonly page: 'edit' | 'show';
  readonly isDeleted: (record: RaRecord) => boolean;
}

/** The value as a link to the record, for those who use the keyboard. */
export function RecordLink({ source, field, page, isDeleted }: RecordLinkProps) {
  const record = useRecordContext<RaRecord>();
  const resource = useResourceContext() ?? '';
  const createPath = useCreatePath();
  if (!record || isDeleted(record)) return value(field, []);
  const isEmpty = [null, undefined, ''].includes(valueAt(record, source) as string);
  return (
    <Link to={createPath({ resource, id: record.id, type: page })} onClick={stopPropagation}>
      {isEmpty ? record.id : value(field, [])}
    </Link>
  );
}

/** Shows the value on the page of a record. */
export function value(field: FieldDescription, resources: Resources): ReactElement {
  const { name, kind, isSortable, sortBy = name, file, currency } = field;
  const props = { source: name, sortable: isSortable, sortBy };
  const reference = referenceOf(field, resources);
  if (file) return <StoredFileField key={name} source={name} file={file} isSmall={false} />;
  if (reference && kind === 'references')
    return <ReferenceArrayField key={name} {...props} reference={reference.name} />;
  if (reference) return <ReferenceField key={name} {...props} reference={reference.name} />;
  if (name === 'id') return <TextField key={name} {...props} />;
  if (currency)
    return (
      <FunctionField
        key={name}
        {...props}
        textAlign="right"
        render={(record: RaRecord) => moneyOf(valueAt(record, name), currency)}
      />
    );
  if (kind === 'decimal' || kind === 'big integer') return <TextField key={name} {...props} textAlign="right" />;
  if (kind === 'number') return <NumberField key={name} {...props} />;
  if (kind === 'boolean') return <BooleanField key={name} {...props} />;
  if (kind === 'date') return <DateField key={name} {...props} />;
  if (kind === 'date-time') return <DateField key={name} {...props} showTime />;
  if (kind === 'json' || kind === 'references')
    return <FunctionField key={name} {...props} render={(record: RaRecord) => jsonOf(valueAt(record, name))} />;
  return <TextField key={name} {...props} />;
}

const jsonOf = (value: unknown): string => (value === null || value === undefined ? '' : JSON.stringify(value));

/** @param isNew whether the form creates a record */
export function input(field: FieldDescription, resources: Resources, isNew: boolean): ReactElement {
  const { name, initial, isRequired, file } = field;
  if (file) return <StoredFileInput key={name} source={name} label={labelOf(name)} file={file} />;
  const validate = isRequired ? [required()] : [];
  const defaultValue = isNew && initial !== undefined ? { defaultValue: initial } : {};
  return inputOf(field, resources, { source: name, validate, ...defaultValue });
}

interface InputProps {
  readonly source: string;
  readonly label?: string;
  readonly validate?: ReturnType<typeof required>[];
  readonly defaultValue?: FieldDescription['initial'];
}

/** The words for no value, in place of the label. */
const SHOWN_EMPTY = { select: { displayEmpty: true }, inputLabel: { shrink: true } };

export function inputOf(field: FieldDescription, resources: Resources, props: InputProps): ReactElement {
  const { kind, isNullable, choices = [], currency, suggestions } = field;
  const key = props.source;
  const reference = referenceOf(field, resources);
  if (reference) return referenceInput(reference, props, kind === 'references');
  if (suggestions) return <SuggestedInput key={key} {...props} suggestions={suggestions} />;
  const unit = currency !== undefined && { helperText: currency };
  if (kind === 'number') return <NumberInput key={key} {...props} {...unit} />;
  if (kind === 'big integer') return <TextInput key={key} {...props} parse={parseBigInteger} />;
  if (kind === 'boolean' && isNullable)
    return <NullableBooleanInput key={key} {...props} nullLabel="Unknown" slotProps={SHOWN_EMPTY} />;
  if (kind === 'boolean') return <BooleanInput key={key} {...props} />;
  if (kind === 'choice') {
    const empty = isNullable && { emptyText: 'None', slotProps: SHOWN_EMPTY };
    return <SelectInput key={key} {...props} {...empty} choices={namedChoices(choices)} translateChoice={false} />;
  }
  if (kind === 'date') return <DateInput key={key} {...props} />;
  if (kind === 'date-time') return <DateTimeInput key={key} {...props} />;
  if (kind === 'json' || kind === 'references') return <JsonInput key={key} {...props} />;
  return <TextInput key={key} {...props} {...unit} multiline={kind === 'long text'} />;
}

export const namedChoices = (choices: readonly (string | number)[]) => choices.map((id) => ({ id, name: String(id) }));

/** Records are found by the search of their resource, or by a part of their title; else it offers as many as a page holds. */
export function referenceInput(
  { name, title, hasSearch, fields }: ResourceDescription,
  props: InputProps,
  isMany: boolean,
): ReactElement {
  const { source, label, validate = [] } = props;
  const titled = fields.find((field) => field.name === title);
  const canFind = hasSearch || titled?.filter === 'part';
  const filterToQuery = (text: string): object => {
    if (hasSearch) return { q: text };
    return canFind ? { [`${title}_icontains`]: text } : {};
  };
  const sort = { field: titled?.isSortable ? title : '', order: 'ASC' } as const;
  const labelled = label === undefined ? {} : { label };
  const reference = { source, reference: name, sort, perPage: canFind ? 25 : 100, ...labelled };
  const choices = { validate, ...labelled, filterToQuery };
  return isMany ? (
    <ReferenceArrayInput key={source} {...reference}>
      <AutocompleteArrayInput {...choices} />
    </ReferenceArrayInput>
  ) : (
    <ReferenceInput key={source} {...reference}>
      <AutocompleteInput {...choices} />
    </ReferenceInput>
  );
}

/** `categoryId` is "Category", `placedAt` is "Placed at", and `auth/price-plans` is "Auth price plans". */
export function labelOf(name: string): string {
  const words = name
    .replace(/(\w)Ids?$/, '$1')
    .replaceAll(/[./_-]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
