import { CrudController } from 'declarest';

import { User } from './user.js';

/** The users of the shop, for administrators to read. They change users at `/api/auth/users`, which keeps the last ADMIN. */
export class UsersController extends CrudController({
  entity: User,
  endpoint: '/api/users',
  enablePagination: true,
  operations: ['findAll', 'findById', 'search'],
  enableSearch: true,
  searchableFields: ['email'],
  filterableFields: ['id', 'email', 'role', 'active'],
  sortableFields: ['id', 'email', 'role'],
}) {}
