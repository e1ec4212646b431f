import { Edit, List, useForm, useTable, DeleteButton, EditButton } from '@refinedev/antd';
import type { MutationMode } from '@refinedev/core';
import { Form, Input, Table } from 'antd';

import type { RefinePage } from './page.js';
import type { Article } from './records.js';

function ArticleList({ mode }: { readonly mode: MutationMode }) {
  const { tableProps } = useTable<Article>();
  return (
    <List>
      <Table {...tableProps} rowKey="id">
        <Table.Column dataIndex="title" title="Title" />
        <Table.Column
          title="Actions"
          render={(_, { id }: Article) => (
            <>
              <EditButton recordItemId={id} />
              <DeleteButton recordItemId={id} mutationMode={mode} />
            </>
          )}
        />
      </Table>
    </List>
  );
}

function ArticleEdit({ mode }: { readonly mode: MutationMode }) {
  const { formProps, saveButtonProps } = useForm<Article>({ mutationMode: mode });
  return (
    <Edit saveButtonProps={saveButtonProps}>
      <Form {...formProps} layout="vertical">
        <Form.Item name="title" label="Title">
          <Input />
        </Form.Item>
      </Form>
    </Edit>
  );
}

const MODES: readonly MutationMode[] = ['undoable', 'optimistic', 'pessimistic'];

export const modePages: Record<string, RefinePage> = Object.fromEntries(
  MODES.map((mode) => [mode, { list: <ArticleList mode={mode} />, edit: <ArticleEdit mode={mode} /> }]),
);
