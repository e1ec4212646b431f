import { RichTextInput } from 'ra-input-rich-text';
import type { ReactElement } from 'react';
import {
  ArrayInput,
  AutocompleteArrayInput,
  AutocompleteInput,
  BooleanInput,
  CheckboxGroupInput,
  Create,
  DateInput,
  DateTimeInput,
  Edit,
  NullableBooleanInput,
  NumberInput,
  RadioButtonGroupInput,
  Resource,
  RichTextField,
  SelectArrayInput,
  SelectInput,
  Show,
  SimpleForm,
  SimpleFormIterator,
  SimpleShowLayout,
  TextArrayInput,
  TextInput,
  TimeInput,
} from 'react-admin';

import { KEYWORDS, STATUSES } from './choices.js';
import { formatTime, parseTime } from './times.js';

const INPUTS: Record<string, ReactElement> = {
  TextInput: <TextInput source="title" label="Field" />,
  NumberInput: <NumberInput source="price" label="Field" />,
  BooleanInput: <BooleanInput source="featured" label="Field" />,
  NullableBooleanInput: <NullableBooleanInput source="featured" label="Field" />,
  SelectInput: <SelectInput source="status" label="Field" choices={STATUSES} />,
  RadioButtonGroupInput: <RadioButtonGroupInput source="status" label="Field" choices={STATUSES} />,
  AutocompleteInput: <AutocompleteInput source="status" label="Field" choices={STATUSES} />,
  SelectArrayInput: <SelectArrayInput source="keywords" label="Field" choices={KEYWORDS} />,
  CheckboxGroupInput: <CheckboxGroupInput source="keywords" label="Field" choices={KEYWORDS} />,
  AutocompleteArrayInput: <AutocompleteArrayInput source="keywords" label="Field" choices={KEYWORDS} />,
  TextArrayInput: <TextArrayInput source="keywords" label="Field" />,
  DateInput: <DateInput source="publishedOn" label="Field" />,
  DateTimeInput: <DateTimeInput source="reviewedAt" label="Field" />,
  'TimeInput alone': <TimeInput source="readingTime" label="Field" />,
  TimeInput: <TimeInput source="readingTime" label="Field" parse={parseTime} format={formatTime} />,
  ArrayInput: (
    <ArrayInput source="links">
      <SimpleFormIterator>
        <TextInput source="label" />
        <TextInput source="url" />
      </SimpleFormIterator>
    </ArrayInput>
  ),
  RichTextInput: <RichTextInput source="body" label="Field" />,
};

const editWith = (input: ReactElement) => () => (
  <Edit mutationMode="pessimistic" redirect={false}>
    <SimpleForm>{input}</SimpleForm>
  </Edit>
);

const ArticleShow = () => (
  <Show>
    <SimpleShowLayout>
      <RichTextField source="body" />
    </SimpleShowLayout>
  </Show>
);

const ArticleCreate = () => (
  <Create>
    <SimpleForm>
      <TextInput source="title" />
      <RichTextInput source="body" />
      <NumberInput source="views" />
      <NumberInput source="price" />
      <NullableBooleanInput source="featured" />
      <SelectInput source="status" choices={STATUSES} />
      <DateInput source="publishedOn" />
      <DateTimeInput source="reviewedAt" />
      <ArrayInput source="links">
        <SimpleFormIterator>
          <TextInput source="label" />
        </SimpleFormIterator>
      </ArrayInput>
      <AutocompleteArrayInput source="keywords" choices={KEYWORDS} />
    </SimpleForm>
  </Create>
);

export const inputPages: Record<string, ReactElement> = {
  ...Object.fromEntries(
    Object.entries(INPUTS).map(([name, input]) => [
      name,
      <Resource key={name} name="articles" edit={editWith(input)} show={ArticleShow} />,
    ]),
  ),
  Create: <Resource name="articles" create={ArticleCreate} edit={editWith(INPUTS['TextInput'] ?? <></>)} />,
};
