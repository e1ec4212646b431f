import type { ReactElement } from 'react';
import {
  Datagrid,
  Edit,
  List,
  ReferenceArrayField,
  ReferenceArrayInput,
  ReferenceField,
  ReferenceInput,
  ReferenceManyCount,
  ReferenceManyField,
  Resource,
  Show,
  SimpleForm,
  SimpleShowLayout,
  TextField,
} from 'react-admin';

const editWith = (input: ReactElement) => () => (
  <Edit mutationMode="pessimistic" redirect={false}>
    <SimpleForm>{input}</SimpleForm>
  </Edit>
);

const ArticleList = () => (
  <List>
    <Datagrid>
      <TextField source="title" />
      <ReferenceField source="categoryId" reference="categories" />
      <ReferenceArrayField source="tagsIds" reference="tags" />
    </Datagrid>
  </List>
);

const ArticleShow = () => (
  <Show>
    <SimpleShowLayout>
      <TextField source="title" />
      <ReferenceManyCount reference="comments" target="articleId" />
      <ReferenceManyField reference="comments" target="articleId">
        <Datagrid>
          <TextField source="text" />
        </Datagrid>
      </ReferenceManyField>
    </SimpleShowLayout>
  </Show>
);

export const referencePages: Record<string, ReactElement> = {
  ReferenceField: <Resource name="articles" list={ArticleList} />,
  ReferenceManyField: <Resource name="articles" show={ArticleShow} />,
  ReferenceInput: (
    <Resource name="articles" edit={editWith(<ReferenceInput source="categoryId" reference="categories" />)} />
  ),
  ReferenceArrayInput: (
    <Resource name="articles" edit={editWith(<ReferenceArrayInput source="tagsIds" reference="tags" />)} />
  ),
};
