/** Asks about unsaved changes before the user opens another address of the page, such as by the address bar. */
import { useEffect } from 'react';
import { useTranslate } from 'react-admin';

/** The router asks too, but cannot go back from an address that it has not opened itself. */
export function UnsavedChanges() {
  const translate = useTranslate();
  useEffect(() => {
    const ask = (event: NavigateEvent) => {
      if (!event.hashChange || event.navigationType === 'traverse' || !hasUnsavedChanges()) return;
      if (!window.confirm(translate('ra.message.unsaved_changes'))) event.preventDefault();
    };
    // Older browsers do not have it.
    const { navigation } = window as Partial<Window>;
    navigation?.addEventListener('navigate', ask);
    return () => navigation?.removeEventListener('navigate', ask);
  }, [translate]);
  return null;
}

/** Forms answer the question of the browser whether the page may be left. */
function hasUnsavedChanges(): boolean {
  const leave = new Event('beforeunload', { cancelable: true });
  return !window.dispatchEvent(leave);
}
