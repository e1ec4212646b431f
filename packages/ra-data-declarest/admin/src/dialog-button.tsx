/** A button that opens a dialog, which sends a request with what its inputs hold. */
import { Children, type ReactNode, useId, useState } from 'react';
import { Confirm, Form, type HttpError, useNotify, useRefresh } from 'react-admin';

import { FirstFocus } from './first-focus.js';
import { toValues } from './json-input.js';
import { useService } from './service.js';
import { TextButton } from './text-button.js';

interface DialogButtonProps {
  readonly label: string;
  /** Of the dialog. */
  readonly title: string;
  /** The name of what the request changes. */
  readonly subject: ReactNode;
  readonly method: string;
  /** Below the url of the service. */
  readonly path: string;
  /** Inputs. Without any, the request has no body. */
  readonly children: ReactNode;
}

export function DialogButton({ label, title, subject, method, path, children }: DialogButtonProps) {
  const { data } = useService();
  const [isOpen, setOpen] = useState(false);
  const [isSending, setSending] = useState(false);
  const formId = useId();
  const notify = useNotify();
  const refresh = useRefresh();
  const send = async (values: object) => {
    setSending(true);
    try {
      const body = Children.count(children) > 0 ? { json: toValues(values) } : {};
      const answer = await data.custom<{ readonly message?: string } | undefined>(path, { method, ...body });
      notify(answer.data?.message ?? `${label}: done`);
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
      <p style={{ marginTop: 0 }}>{subject}</p>
      <FirstFocus>{children}</FirstFocus>
      {/* Enter submits a form that has a button. */}
      <input type="submit" hidden />
    </Form>
  );
  return (
    <>
      <TextButton label={label} onClick={() => setOpen(true)} />
      <Confirm
        isOpen={isOpen}
        loading={isSending}
        title={title}
        content={form}
        onConfirm={() => (document.getElementById(formId) as HTMLFormElement).requestSubmit()}
        onClose={() => setOpen(false)}
      />
    </>
  );
}
