import { Create, Edit, useForm, useSelect } from '@refinedev/antd';
import { Button, Checkbox, DatePicker, Form, Input, InputNumber, Radio, Select, Switch } from 'antd';
import dayjs from 'dayjs';
import type { ReactElement } from 'react';

import { STATUSES } from './choices.js';
import type { RefinePage } from './page.js';
import type { Article, Named } from './records.js';

/** The documentation of refine gives dates to Ant Design in this way. */
const asDay = (value: string | null) => ({ value: value ? dayjs(value) : undefined });
const asText = (day: dayjs.Dayjs | null) => day?.format('YYYY-MM-DD') ?? null;

const INPUTS: Record<string, ReactElement> = {
  Input: (
    <Form.Item name="title" label="Field">
      <Input />
    </Form.Item>
  ),
  TextArea: (
    <Form.Item name="body" label="Field">
      <Input.TextArea />
    </Form.Item>
  ),
  InputNumber: (
    <Form.Item name="price" label="Field">
      <InputNumber />
    </Form.Item>
  ),
  Switch: (
    <Form.Item name="featured" label="Field" valuePropName="checked">
      <Switch />
    </Form.Item>
  ),
  Checkbox: (
    <Form.Item name="featured" valuePropName="checked">
      <Checkbox>Field</Checkbox>
    </Form.Item>
  ),
  Select: (
    <Form.Item name="status" label="Field">
      <Select options={STATUSES} />
    </Form.Item>
  ),
  'Radio.Group': (
    <Form.Item name="status" label="Field">
      <Radio.Group options={STATUSES} />
    </Form.Item>
  ),
  'Select of several texts': (
    <Form.Item name="keywords" label="Field">
      <Select mode="tags" />
    </Form.Item>
  ),
  'DatePicker of a date and time': (
    <Form.Item name="reviewedAt" label="Field" getValueProps={asDay}>
      <DatePicker showTime />
    </Form.Item>
  ),
  'DatePicker of a date': (
    <Form.Item name="publishedOn" label="Field" getValueProps={asDay} normalize={asText}>
      <DatePicker />
    </Form.Item>
  ),
  'DatePicker of a date alone': (
    <Form.Item name="publishedOn" label="Field" getValueProps={asDay}>
      <DatePicker />
    </Form.Item>
  ),
  'Form.List': (
    <Form.List name="links">
      {(fields, { add, remove }) => (
        <>
          {fields.map(({ key, name }) => (
            <div key={key}>
              <Form.Item name={[name, 'label']}>
                <Input />
              </Form.Item>
              <Form.Item name={[name, 'url']}>
                <Input />
              </Form.Item>
              <Button onClick={() => remove(name)}>Remove</Button>
            </div>
          ))}
          <Button onClick={() => add()}>Add</Button>
        </>
      )}
    </Form.List>
  ),
};

function EditWith({ input }: { readonly input: ReactElement }) {
  const { formProps, saveButtonProps } = useForm<Article>({ redirect: false });
  return (
    <Edit saveButtonProps={saveButtonProps}>
      <Form {...formProps} layout="vertical">
        {input}
      </Form>
    </Edit>
  );
}

function ReferenceEdit() {
  const { formProps, saveButtonProps, query } = useForm<Article>({ redirect: false });
  const { selectProps: categories } = useSelect<Named>({
    resource: 'categories',
    optionLabel: 'name',
    ...(query?.data && { defaultValue: query.data.data.categoryId }),
  });
  const { selectProps: tags } = useSelect<Named>({
    resource: 'tags',
    optionLabel: 'name',
    ...(query?.data && { defaultValue: query.data.data.tagsIds }),
  });
  return (
    <Edit saveButtonProps={saveButtonProps}>
      <Form {...formProps} layout="vertical">
        <Form.Item name="categoryId" label="Category">
          <Select {...categories} />
        </Form.Item>
        <Form.Item name="tagsIds" label="Tags">
          <Select {...tags} mode="multiple" />
        </Form.Item>
      </Form>
    </Edit>
  );
}

function ArticleCreate() {
  const { formProps, saveButtonProps } = useForm<Article>({ redirect: false });
  return (
    <Create saveButtonProps={saveButtonProps}>
      <Form {...formProps} layout="vertical">
        <Form.Item name="title" label="Title">
          <Input />
        </Form.Item>
        <Form.Item name="price" label="Price">
          <InputNumber />
        </Form.Item>
        <Form.Item name="reviewedAt" label="Reviewed">
          <DatePicker showTime />
        </Form.Item>
      </Form>
    </Create>
  );
}

export const inputPages: Record<string, RefinePage> = {
  ...Object.fromEntries(
    Object.entries(INPUTS).map(([name, input]) => [name, { edit: <EditWith key={name} input={input} /> }]),
  ),
  useSelect: { edit: <ReferenceEdit /> },
  Create: { create: <ArticleCreate /> },
};
