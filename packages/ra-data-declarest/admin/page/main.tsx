// The page of `ra-data-declarest/static`, for a service that serves it beside its API.
import { lazy, Suspense } from 'react';
import { createRoot } from 'react-dom/client';

import type { Logins } from '../src/index.js';

/** Providers send people back to a page of their own, `login/<provider>/`, which is this one too. */
const FOLDER = new URL('.', document.baseURI).href.replace(/\/login\/[\w-]+\/$/, '/');

/** An address in the head of the page, relative to the folder. */
function addressOf(name: string): string {
  const { content = '' } = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`) ?? {};
  return new URL(content, FOLDER).href;
}

/** What a service without `logins.json` offers is a password. */
const readLogins = (): Promise<Logins> =>
  fetch(addressOf('declarest-logins'))
    .then((response) => (response.ok ? (response.json() as Promise<Logins>) : {}))
    .catch(() => ({}));

const AdminFor = lazy(async () => {
  const [{ AdminFor: Page }, logins] = await Promise.all([import('../src/index.js'), readLogins()]);
  return {
    default: () => (
      <Page
        title={document.title}
        url={addressOf('declarest-api')}
        document={addressOf('declarest-document')}
        logins={logins}
        redirectUri={(provider) => new URL(`login/${provider}/`, FOLDER).href}
      />
    ),
  };
});

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Suspense>
      <AdminFor />
    </Suspense>,
  );
