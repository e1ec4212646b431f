import type { ReactElement } from 'react';
import { Datagrid, Edit, List, type MutationMode, Resource, SimpleForm, TextField, TextInput } from 'react-admin';

const ArticleList = () => (
  <List>
    <Datagrid>
      <TextField source="title" />
    </Datagrid>
  </List>
);

const editIn = (mutationMode: MutationMode) => () => (
  <Edit mutationMode={mutationMode}>
    <SimpleForm>
      <TextInput source="title" />
    </SimpleForm>
  </Edit>
);

const MODES: readonly MutationMode[] = ['undoable', 'optimistic', 'pessimistic'];

export const modePages: Record<string, ReactElement> = Object.fromEntries(
  MODES.map((mode) => [mode, <Resource key={mode} name="articles" list={ArticleList} edit={editIn(mode)} />]),
);
