import {
  BooleanField,
  DateField,
  DeleteButton,
  EditButton,
  ExportButton,
  FilterDropdown,
  getDefaultSortOrder,
  ImportButton,
  List,
  NumberField,
  Show,
  TagField,
  TextField,
  useImport,
  useSelect,
  useTable,
} from '@refinedev/antd';
import { type HttpError, useExport, useInfiniteList, useMany, useShow } from '@refinedev/core';
import { Button, Checkbox, DatePicker, Form, Input, InputNumber, Radio, Select, Table } from 'antd';

import { STATUSES } from './choices.js';
import type { RefinePage } from './page.js';
import type { Article, Named } from './records.js';

function TableList() {
  const { tableProps, sorters } = useTable<Article>({ sorters: { initial: [{ field: 'id', order: 'asc' }] } });
  return (
    <List>
      <Table {...tableProps} rowKey="id">
        <Table.Column dataIndex="title" title="Title" sorter defaultSortOrder={getDefaultSortOrder('title', sorters)} />
        <Table.Column
          dataIndex="price"
          title="Price"
          sorter
          render={(value: number) => <NumberField value={value} />}
        />
        <Table.Column
          dataIndex="featured"
          title="Featured"
          render={(value: boolean) => <BooleanField value={value} />}
        />
        <Table.Column
          dataIndex="publishedOn"
          title="Published"
          render={(value: string) => <DateField value={value} />}
        />
        <Table.Column
          title="Actions"
          render={(_, { id }: Article) => (
            <>
              <EditButton recordItemId={id} />
              <DeleteButton recordItemId={id} />
            </>
          )}
        />
      </Table>
    </List>
  );
}

/** The filters in the headers of a table. */
function FilterList() {
  const { tableProps } = useTable<Article>();
  const { selectProps: categories } = useSelect<Named>({ resource: 'categories', optionLabel: 'name' });
  return (
    <List>
      <Table {...tableProps} rowKey="id">
        <Table.Column
          dataIndex="title"
          title="Title"
          filterDropdown={(props) => (
            <FilterDropdown {...props}>
              <Input aria-label="Title filter" />
            </FilterDropdown>
          )}
        />
        <Table.Column
          dataIndex="status"
          title="Status"
          filterDropdown={(props) => (
            <FilterDropdown {...props}>
              <Checkbox.Group options={STATUSES} />
            </FilterDropdown>
          )}
        />
        <Table.Column
          dataIndex="featured"
          title="Featured"
          render={(value: boolean) => <BooleanField value={value} />}
          filterDropdown={(props) => (
            <FilterDropdown {...props}>
              <Radio.Group
                options={[
                  { label: 'Yes', value: 'true' },
                  { label: 'No', value: 'false' },
                ]}
              />
            </FilterDropdown>
          )}
        />
        <Table.Column
          dataIndex="categoryId"
          title="Category"
          filterDropdown={(props) => (
            <FilterDropdown {...props} mapValue={(keys) => keys.map(Number)}>
              <Select {...categories} mode="multiple" style={{ minWidth: 200 }} aria-label="Category filter" />
            </FilterDropdown>
          )}
        />
      </Table>
    </List>
  );
}

interface Search {
  readonly title?: string;
  readonly price?: number;
  readonly status?: string;
  readonly reviewedAt?: unknown;
}

/** A form beside the table, with `onSearch`. */
function SearchList() {
  const { tableProps, searchFormProps } = useTable<Article, HttpError, Search>({
    onSearch: ({ title, price, status, reviewedAt }) => [
      { field: 'title', operator: 'contains', value: title },
      { field: 'price', operator: 'gte', value: price },
      { field: 'status', operator: 'eq', value: status },
      { field: 'reviewedAt', operator: 'gte', value: reviewedAt },
    ],
  });
  return (
    <List>
      <Form {...searchFormProps} layout="inline">
        <Form.Item name="title" label="Title">
          <Input />
        </Form.Item>
        <Form.Item name="price" label="Price from">
          <InputNumber />
        </Form.Item>
        <Form.Item name="status" label="Status">
          <Select options={STATUSES} allowClear style={{ width: 120 }} />
        </Form.Item>
        <Form.Item name="reviewedAt" label="Reviewed from">
          <DatePicker showTime />
        </Form.Item>
        <Button htmlType="submit">Search</Button>
      </Form>
      <Table {...tableProps} rowKey="id">
        <Table.Column dataIndex="title" title="Title" />
      </Table>
    </List>
  );
}

function ReferenceList() {
  const { tableProps } = useTable<Article>();
  const rows = tableProps.dataSource ?? [];
  const { result: categories } = useMany<Named>({ resource: 'categories', ids: rows.map((row) => row.categoryId) });
  const { result: tags } = useMany<Named>({ resource: 'tags', ids: [...new Set(rows.flatMap((row) => row.tagsIds))] });
  const nameIn = (records: Named[] | undefined, id: number) => records?.find((each) => each.id === id)?.name;
  return (
    <List>
      <Table {...tableProps} rowKey="id">
        <Table.Column dataIndex="title" title="Title" />
        <Table.Column
          dataIndex="categoryId"
          title="Category"
          render={(id: number) => <TextField value={nameIn(categories.data, id)} />}
        />
        <Table.Column
          dataIndex="tagsIds"
          title="Tags"
          render={(ids: number[]) => ids.map((id) => <TagField key={id} value={nameIn(tags.data, id)} />)}
        />
      </Table>
    </List>
  );
}

function CommentsOfArticle() {
  const { query } = useShow<Article>();
  const { tableProps } = useTable<{ id: number; text: string }>({
    resource: 'comments',
    syncWithLocation: false,
    filters: { permanent: [{ field: 'articleId', operator: 'eq', value: query.data?.data.id }] },
    queryOptions: { enabled: query.data !== undefined },
  });
  return (
    <Show>
      <Table {...tableProps} rowKey="id">
        <Table.Column dataIndex="text" title="Text" />
      </Table>
    </Show>
  );
}

function InfiniteEntries() {
  const { result, query } = useInfiniteList<Named>({ resource: 'entries' });
  return (
    <List>
      <ul>{result.data?.pages.flatMap(({ data }) => data.map(({ id, name }) => <li key={id}>{name}</li>))}</ul>
      {result.hasNextPage && <Button onClick={() => void query.fetchNextPage()}>More</Button>}
    </List>
  );
}

function ExportList() {
  const { tableProps } = useTable<Article>();
  const { triggerExport, isLoading } = useExport<Article>();
  const { uploadProps, buttonProps } = useImport();
  return (
    <List
      headerButtons={
        <>
          <ImportButton uploadProps={uploadProps} buttonProps={buttonProps} />
          <ExportButton onClick={() => void triggerExport()} loading={isLoading} />
        </>
      }
    >
      <Table {...tableProps} rowKey="id">
        <Table.Column dataIndex="title" title="Title" />
      </Table>
    </List>
  );
}

export const listPages: Record<string, RefinePage> = {
  Table: { list: <TableList /> },
  FilterDropdown: { list: <FilterList /> },
  SearchForm: { list: <SearchList /> },
  References: { list: <ReferenceList /> },
  ManyReference: { show: <CommentsOfArticle /> },
  InfiniteList: { list: <InfiniteEntries /> },
  ExportImport: { list: <ExportList /> },
};
