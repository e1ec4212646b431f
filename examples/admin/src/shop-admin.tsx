// The pages of the interface. The server says which of them a user may open.
import Group from '@mui/icons-material/Group';
import Inventory from '@mui/icons-material/Inventory2';
import Key from '@mui/icons-material/Key';
import Label from '@mui/icons-material/Label';
import Person from '@mui/icons-material/Person';
import ShoppingCart from '@mui/icons-material/ShoppingCart';
import { QueryClient } from '@tanstack/react-query';
import { type ComponentType, lazy, type ReactNode } from 'react';
import { Admin, AppBar, CustomRoutes, Layout, Resource, useGetIdentity, UserMenu } from 'react-admin';
import { Route } from 'react-router-dom';

import { ForgotPage } from './account-page.js';
import { LoginPage } from './login-page.js';
import { SessionDialog } from './session-dialog.js';
import { shopAuth, shopData } from './shop.js';
import { darkTheme, lightTheme } from './themes.js';

/** Pages that the browser loads when the user opens one of them. */
const pagesOf = <Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  ...names: Name[]
): Record<Name, ComponentType> => {
  const pages = names.map((name) => [name, lazy(async () => ({ default: (await load())[name] }))]);
  return Object.fromEntries(pages) as Record<Name, ComponentType>;
};

const { AccountPage } = pagesOf(() => import('./account.js'), 'AccountPage');
const categories = pagesOf(() => import('./categories.js'), 'CategoryCreate', 'CategoryEdit', 'CategoryList');
const keys = pagesOf(() => import('./keys.js'), 'KeyCreate', 'KeyList');
const { OrderList } = pagesOf(() => import('./orders.js'), 'OrderList');
const products = pagesOf(() => import('./products.js'), 'ProductCreate', 'ProductEdit', 'ProductList', 'ProductShow');
const users = pagesOf(() => import('./users.js'), 'UserCreate', 'UserEdit', 'UserList');

/** A list that fails says so at once, and offers to try again. */
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });

/** Its name for screen readers is the text that it shows. */
function ShopBar() {
  const { data } = useGetIdentity();
  return <AppBar userMenu={<UserMenu label={data?.fullName ?? 'ra.auth.user_menu'} />} />;
}

const ShopLayout = ({ children }: { readonly children: ReactNode }) => (
  <Layout appBar={ShopBar}>
    {children}
    <SessionDialog />
  </Layout>
);

export const ShopAdmin = () => (
  <Admin
    title="Shop"
    dataProvider={shopData}
    authProvider={shopAuth}
    queryClient={queryClient}
    theme={lightTheme}
    darkTheme={darkTheme}
    layout={ShopLayout}
    loginPage={LoginPage}
    requireAuth
    disableTelemetry
  >
    <CustomRoutes noLayout>
      <Route path="/forgot" element={<ForgotPage />} />
    </CustomRoutes>
    <Resource
      name="products"
      icon={Inventory}
      recordRepresentation="name"
      list={products.ProductList}
      edit={products.ProductEdit}
      show={products.ProductShow}
      create={products.ProductCreate}
    />
    <Resource
      name="categories"
      icon={Label}
      recordRepresentation="name"
      list={categories.CategoryList}
      edit={categories.CategoryEdit}
      create={categories.CategoryCreate}
    />
    <Resource name="orders" icon={ShoppingCart} list={OrderList} />
    <Resource
      name="users"
      icon={Group}
      recordRepresentation="email"
      list={users.UserList}
      edit={users.UserEdit}
      create={users.UserCreate}
    />
    <Resource name="sessions" icon={Person} options={{ label: 'Account' }} list={AccountPage} />
    <Resource name="keys" icon={Key} options={{ label: 'API keys' }} list={keys.KeyList} create={keys.KeyCreate} />
  </Admin>
);
