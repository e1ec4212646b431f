import { type ReactNode, useEffect, useRef } from 'react';

/** Focuses its first field itself: `autoFocus` comes before that of the button of a dialog. */
export function FirstFocus({ children }: { readonly children: ReactNode }) {
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => fields.current?.querySelector<HTMLElement>('input, textarea')?.focus(), []);
  return (
    <div ref={fields} style={{ display: 'contents' }}>
      {children}
    </div>
  );
}
