// The interface of the sample shop, with a list of the application, for `scripts/admin-for.mjs`.
import { lazy, Suspense } from 'react';
import { Datagrid, List, TextField } from 'react-admin';
import { createRoot } from 'react-dom/client';

const AdminFor = lazy(async () => ({ default: (await import('../src/index.js')).AdminFor }));

const UserList = () => (
  <List title="The people of the shop">
    <Datagrid bulkActionButtons={false}>
      <TextField source="email" />
    </Datagrid>
  </List>
);

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Suspense>
      <AdminFor title="Shop" url="/api" document="/admin/resources.json" resources={{ users: { list: UserList } }} />
    </Suspense>,
  );
