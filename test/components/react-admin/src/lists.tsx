import type { ReactElement } from 'react';
import {
  BulkDeleteButton,
  BulkUpdateButton,
  Datagrid,
  DataTable,
  FilterList,
  FilterListItem,
  FilterLiveSearch,
  InfiniteList,
  List,
  ListGuesser,
  NumberField,
  Resource,
  SavedQueriesList,
  ShowGuesser,
  EditGuesser,
  SimpleList,
  TextField,
  TextInput,
} from 'react-admin';

const ArticleList = () => (
  <List>
    <Datagrid>
      <TextField source="title" />
      <NumberField source="price" />
    </Datagrid>
  </List>
);

const ArticleTable = () => (
  <List>
    <DataTable>
      <DataTable.Col source="title" />
      <DataTable.NumberCol source="price" />
    </DataTable>
  </List>
);

const SimpleArticleList = () => (
  <List>
    <SimpleList primaryText="%{title}" secondaryText="%{status}" />
  </List>
);

const EntryList = () => (
  <InfiniteList>
    <Datagrid>
      <TextField source="name" />
    </Datagrid>
  </InfiniteList>
);

const BulkActionButtons = () => (
  <>
    <BulkUpdateButton label="Publish" data={{ status: 'published' }} mutationMode="pessimistic" />
    <BulkDeleteButton mutationMode="pessimistic" />
  </>
);

const BulkList = () => (
  <List>
    <Datagrid bulkActionButtons={<BulkActionButtons />}>
      <TextField source="title" />
    </Datagrid>
  </List>
);

const FilterSidebar = () => (
  <aside>
    <SavedQueriesList />
    <FilterLiveSearch source="q" label="Search" />
    <FilterList label="Status" icon={null}>
      <FilterListItem label="Draft" value={{ status: 'draft' }} />
      <FilterListItem label="Published" value={{ status: 'published' }} />
    </FilterList>
    <FilterList label="Views" icon={null}>
      <FilterListItem label="Many" value={{ views_gte: 1000, views_lt: undefined }} />
      <FilterListItem label="Few" value={{ views_gte: undefined, views_lt: 1000 }} />
    </FilterList>
  </aside>
);

const SidebarList = () => (
  <List aside={<FilterSidebar />}>
    <Datagrid>
      <TextField source="title" />
    </Datagrid>
  </List>
);

const QueryList = () => (
  <List filters={[<TextInput key="title" source="title_icontains" label="Title" alwaysOn />]}>
    <Datagrid>
      <TextField source="title" />
    </Datagrid>
  </List>
);

export const listPages: Record<string, ReactElement> = {
  Datagrid: <Resource name="articles" list={ArticleList} />,
  DataTable: <Resource name="articles" list={ArticleTable} />,
  SimpleList: <Resource name="articles" list={SimpleArticleList} />,
  InfiniteList: <Resource name="entries" list={EntryList} />,
  BulkActions: <Resource name="articles" list={BulkList} />,
  FilterList: <Resource name="articles" list={SidebarList} />,
  SavedQueries: <Resource name="articles" list={QueryList} />,
  Guessers: <Resource name="articles" list={ListGuesser} edit={EditGuesser} show={ShowGuesser} />,
};
