/** Buttons for the operations of the application with a record, and a dialog for what each of them takes. */
import type { ActionDescription, ResourceDescription } from 'ra-data-declarest/description';
import { useId, useState } from 'react';
import {
  Button,
  Confirm,
  Form,
  type HttpError,
  type RaRecord,
  useNotify,
  useRecordContext,
  useRefresh,
} from 'react-admin';

import { input, labelOf } from './fields.js';
import { toValues } from './json-input.js';
import { useMayDo } from './permitted.js';
import { useService } from './service.js';

export function ActionButtons({ resource: { name, actions } }: { readonly resource: ResourceDescription }) {
  const record = useRecordContext<RaRecord>();
  if (!record) return null;
  return actions.map((action) => <ActionButton key={action.name} resource={name} action={action} record={record} />);
}

interface ActionButtonProps {
  readonly resource: string;
  readonly action: ActionDescription;
  readonly record: RaRecord;
}

function ActionButton({ resource, action: { name, method, title, fields }, record }: ActionButtonProps) {
  const { data, resources } = useService();
  const [isOpen, setOpen] = useState(false);
  const [isSending, setSending] = useState(false);
  const formId = useId();
  const notify = useNotify();
  const refresh = useRefresh();
  const mayDo = useMayDo(name, resource);
  if (!mayDo) return null;
  const send = async (values: object) => {
    setSending(true);
    try {
      const path = `${resource}/${encodeURIComponent(record.id)}/${name}`;
      const body = fields.length > 0 ? { json: toValues(values) } : {};
      const answer = await data.custom<{ readonly message?: string } | undefined>(path, { method, ...body });
      notify(answer.data?.message ?? 'Done');
      setOpen(false);
      refresh();
      return undefined;
    } catch (error) {
      const { message, body } = error as HttpError;
      if (!body?.errors) notify(message, { type: 'error' });
      return body?.errors;
    } finally {
      setSending(false);
    }
  };
  const form = (
    <Form id={formId} record={{}} onSubmit={send} sanitizeEmptyValues>
      {fields.map((field) => input(field, resources, true))}
    </Form>
  );
  return (
    <>
      <Button label={labelOf(name)} onClick={() => setOpen(true)} />
      <Confirm
        isOpen={isOpen}
        loading={isSending}
        title={title ?? labelOf(name)}
        content={form}
        onConfirm={() => (document.getElementById(formId) as HTMLFormElement).requestSubmit()}
        onClose={() => setOpen(false)}
      />
    </>
  );
}
