// Shows the page that the URL names: `/?page=DatePicker#/articles/edit/1`.
import '@ant-design/v5-patch-for-react-19';

import { useNotificationProvider } from '@refinedev/antd';
import { Refine } from '@refinedev/core';
import routerProvider from '@refinedev/react-router';
import { App } from 'antd';
import { dataProvider } from 'refine-declarest';
import { createRoot } from 'react-dom/client';
import { HashRouter, Route, Routes } from 'react-router';

import { inferredPages } from './inferred.js';
import { inputPages } from './inputs.js';
import { listPages } from './lists.js';
import { modePages } from './modes.js';
import type { RefinePage } from './page.js';

const pages: Record<string, RefinePage> = { ...listPages, ...inputPages, ...modePages, ...inferredPages };
const { list, create, edit, show } = pages[new URLSearchParams(location.search).get('page') ?? ''] ?? {};
const resources = ['articles', 'categories', 'tags', 'comments', 'entries'].map((name) => ({
  name,
  list: `/${name}`,
  create: `/${name}/create`,
  edit: `/${name}/edit/:id`,
  show: `/${name}/show/:id`,
}));

const RefineApp = () => (
  <HashRouter>
    <App>
      <Refine
        dataProvider={dataProvider(`${location.origin}/api`)}
        routerProvider={routerProvider}
        notificationProvider={useNotificationProvider}
        resources={resources}
        options={{ disableTelemetry: true, syncWithLocation: true }}
      >
        <Routes>
          <Route path=":resource" element={list} />
          <Route path=":resource/create" element={create} />
          <Route path=":resource/edit/:id" element={edit} />
          <Route path=":resource/show/:id" element={show} />
        </Routes>
      </Refine>
    </App>
  </HashRouter>
);

const root = document.getElementById('root');
if (root) createRoot(root).render(<RefineApp />);
