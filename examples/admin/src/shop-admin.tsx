// The pages of the interface. What a user sees depends on the roles in the token.
import Group from '@mui/icons-material/Group';
import Inventory from '@mui/icons-material/Inventory2';
import Label from '@mui/icons-material/Label';
import Person from '@mui/icons-material/Person';
import ShoppingCart from '@mui/icons-material/ShoppingCart';
import { Admin, Resource } from 'react-admin';

import { AccountPage } from './account.js';
import { CategoryCreate, CategoryEdit, CategoryList } from './categories.js';
import { OrderList } from './orders.js';
import { ProductCreate, ProductEdit, ProductList } from './products.js';
import { shopAuth, shopData } from './shop.js';
import { UserEdit, UserList } from './users.js';

export const ShopAdmin = () => (
  <Admin title="Shop" dataProvider={shopData} authProvider={shopAuth} requireAuth disableTelemetry>
    {(roles: string[]) => (
      <>
        <Resource
          name="products"
          icon={Inventory}
          recordRepresentation="name"
          list={ProductList}
          edit={ProductEdit}
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
        {roles.includes('ADMIN') && (
          <Resource name="users" icon={Group} recordRepresentation="email" list={UserList} edit={UserEdit} />
        )}
        <Resource name="sessions" icon={Person} options={{ label: 'Account' }} list={AccountPage} />
      </>
    )}
  </Admin>
);
