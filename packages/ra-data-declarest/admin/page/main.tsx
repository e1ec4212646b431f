// The page of `ra-data-declarest/static`, for a service that serves it beside its API.
import { lazy, Suspense } from 'react';
import { createRoot } from 'react-dom/client';

const AdminFor = lazy(async () => ({ default: (await import('../src/index.js')).AdminFor }));

/** An address in the head of the page, relative to it. */
function addressOf(name: string): string {
  const { content = '' } = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`) ?? {};
  return new URL(content, document.baseURI).href;
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Suspense>
      <AdminFor title={document.title} url={addressOf('declarest-api')} document={addressOf('declarest-document')} />
    </Suspense>,
  );
