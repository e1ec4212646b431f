/** The inputs above a list, which filter it by its fields. */
import type { FieldDescription, ResourceDescription } from 'ra-data-declarest/description';
import type { ReactElement } from 'react';
import { DateInput, SearchInput, SelectInput, TextInput } from 'react-admin';

import { endOfDay, startOfDay } from './day-bounds.js';
import { inputOf, labelOf, namedChoices, referenceInput, referenceOf } from './fields.js';

type Resources = readonly ResourceDescription[];

export function filterInputs(
  hasSearch: boolean,
  listsDeleted: boolean,
  fields: readonly FieldDescription[],
  resources: Resources,
) {
  const search = hasSearch ? [<SearchInput key="q" source="q" alwaysOn />] : [];
  const deleted = listsDeleted
    ? [<SelectInput key="deleted" source="deleted" label="Deleted records" choices={DELETED} emptyText="Hidden" />]
    : [];
  return [...search, ...fields.flatMap((field) => inputsFor(field, resources)), ...deleted];
}

const DELETED = [
  { id: 'with', name: 'Shown too' },
  { id: 'only', name: 'Only these' },
];

function inputsFor(field: FieldDescription, resources: Resources): ReactElement[] {
  const { name, kind, choices = [], isNullable, filter, filterBy } = field;
  const label = labelOf(name);
  const related = filterBy === undefined ? undefined : referenceOf(field, resources);
  if (filterBy !== undefined && related) return [referenceInput(related, { source: filterBy, label }, false)];
  if (filter === 'part') return [<TextInput key={name} source={`${name}_icontains`} label={`${label} contains`} />];
  if (filter === 'bounds') {
    const from = { source: `${name}_gte`, label: `${label} from` };
    const to = { source: `${name}_lte`, label: `${label} up to` };
    // An input for date-times has no value until the user types a time too.
    if (kind === 'date-time')
      return [
        <DateInput key={from.source} {...from} parse={startOfDay} />,
        <DateInput key={to.source} {...to} parse={endOfDay} />,
      ];
    return [inputOf(field, [], from), inputOf(field, [], to)];
  }
  if (filter !== 'value' || (field.reference !== undefined && !referenceOf(field, resources))) return [];
  // Without a choice, the list is not filtered: that is not the filter by an empty value.
  if (kind === 'choice')
    return [
      <SelectInput key={name} source={name} label={label} choices={namedChoices(choices)} translateChoice={false} />,
    ];
  if (kind !== 'boolean') return [inputOf(field, resources, { source: name, label })];
  const truth = [
    { id: true, name: 'ra.boolean.true' },
    { id: false, name: 'ra.boolean.false' },
  ];
  const isEmpty = { source: `${name}_isNull`, label: `${label} is empty` };
  return [
    <SelectInput key={name} source={name} label={label} choices={truth} />,
    ...(isNullable ? [<SelectInput key={isEmpty.source} {...isEmpty} choices={truth} />] : []),
  ];
}
