// Shows the page that the URL names: `/?page=DateInput#/articles/1`.
import { dataProvider } from 'ra-data-declarest';
import { Admin } from 'react-admin';
import { createRoot } from 'react-dom/client';

import { filterPages } from './filters.js';
import { inputPages } from './inputs.js';
import { listPages } from './lists.js';
import { modePages } from './modes.js';
import { referencePages } from './references.js';

const pages = { ...listPages, ...filterPages, ...inputPages, ...referencePages, ...modePages };
const name = new URLSearchParams(location.search).get('page') ?? '';
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Admin dataProvider={dataProvider(`${location.origin}/api`)} disableTelemetry>
      {pages[name]}
    </Admin>,
  );
