// The pages of the interface. The server says which of them a user may open.
import Group from '@mui/icons-material/Group';
import Inventory from '@mui/icons-material/Inventory2';
import Label from '@mui/icons-material/Label';
import Person from '@mui/icons-material/Person';
import ShoppingCart from '@mui/icons-material/ShoppingCart';
import { QueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Admin, AppBar, CustomRoutes, Layout, Resource, useGetIdentity, UserMenu } from 'react-admin';
import { Route } from 'react-router-dom';

import { ForgotPage } from './account-page.js';
import { AccountPage } from './account.js';
import { CategoryCreate, CategoryEdit, CategoryList } from './categories.js';
import { LoginPage } from './login-page.js';
import { OrderList } from './orders.js';
import { ProductCreate, ProductEdit, ProductList, ProductShow } from './products.js';
import { SessionDialog } from './session-dialog.js';
import { shopAuth, shopData } from './shop.js';
import { darkTheme, lightTheme } from './themes.js';
import { UserCreate, UserEdit, UserList } from './users.js';

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
      list={ProductList}
      edit={ProductEdit}
      show={ProductShow}
      create={ProductCreate}
    />
    <Resource
      name="categories"
      icon={Label}
      recordRepresentation="name"
      list={CategoryList}
      edit={CategoryEdit}
      create={CategoryCreate}
    />
    <Resource name="orders" icon={ShoppingCart} list={OrderList} />
    <Resource
      name="users"
      icon={Group}
      recordRepresentation="email"
      list={UserList}
      edit={UserEdit}
      create={UserCreate}
    />
    <Resource name="sessions" icon={Person} options={{ label: 'Account' }} list={AccountPage} />
  </Admin>
);
