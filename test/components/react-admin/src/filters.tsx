import type { ReactElement } from 'react';
import {
  AutocompleteArrayInput,
  AutocompleteInput,
  BooleanInput,
  CheckboxGroupInput,
  Datagrid,
  DateInput,
  DateTimeInput,
  List,
  NullableBooleanInput,
  NumberInput,
  RadioButtonGroupInput,
  ReferenceArrayInput,
  ReferenceInput,
  Resource,
  SearchInput,
  SelectArrayInput,
  SelectInput,
  TextField,
  TextInput,
  TimeInput,
} from 'react-admin';

import { STATUSES } from './choices.js';
import { formatTime, parseTime } from './times.js';

const FILTERS: Record<string, ReactElement> = {
  SearchInput: <SearchInput source="q" alwaysOn />,
  TextInput: <TextInput source="title_icontains" label="Filter" alwaysOn />,
  NumberInput: <NumberInput source="price_gte" label="Filter" alwaysOn />,
  BooleanInput: <BooleanInput source="featured" label="Filter" alwaysOn />,
  NullableBooleanInput: <NullableBooleanInput source="featured" label="Filter" alwaysOn />,
  SelectInput: <SelectInput source="status" label="Filter" choices={STATUSES} alwaysOn />,
  RadioButtonGroupInput: <RadioButtonGroupInput source="status" label="Filter" choices={STATUSES} alwaysOn />,
  AutocompleteInput: <AutocompleteInput source="status" label="Filter" choices={STATUSES} alwaysOn />,
  SelectArrayInput: <SelectArrayInput source="status" label="Filter" choices={STATUSES} alwaysOn />,
  CheckboxGroupInput: <CheckboxGroupInput source="status" label="Filter" choices={STATUSES} alwaysOn />,
  AutocompleteArrayInput: <AutocompleteArrayInput source="status" label="Filter" choices={STATUSES} alwaysOn />,
  DateInput: <DateInput source="publishedOn_gte" label="Filter" alwaysOn />,
  DateTimeInput: <DateTimeInput source="reviewedAt_gte" label="Filter" alwaysOn />,
  TimeInput: <TimeInput source="readingTime" label="Filter" parse={parseTime} format={formatTime} alwaysOn />,
  ReferenceInput: <ReferenceInput source="categoryId" reference="categories" label="Filter" alwaysOn />,
  ReferenceArrayInput: <ReferenceArrayInput source="tags.id" reference="tags" label="Filter" alwaysOn />,
};

const listWith = (filter: ReactElement) => () => (
  <List filters={[filter]}>
    <Datagrid>
      <TextField source="title" />
    </Datagrid>
  </List>
);

export const filterPages = Object.fromEntries(
  Object.entries(FILTERS).map(([name, filter]) => [
    `filter ${name}`,
    <Resource key={name} name="articles" list={listWith(filter)} />,
  ]),
);
