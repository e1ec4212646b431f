import { CrudController } from 'declarest';

import { User } from './user.js';

/** The users of the shop, for administrators. Users come from `register`, so the class has no POST. */
export class UsersController extends CrudController({
  entity: User,
  endpoint: '/api/users',
  enablePagination: true,
  operations: ['findAll', 'findById', 'search', 'patch'],
  enableSearch: true,
  searchableFields: ['email'],
  filterableFields: ['id', 'email', 'role', 'active'],
  sortableFields: ['id', 'email', 'role'],
  fieldPermissions: { role: { write: ['ADMIN'] }, active: { write: ['ADMIN'] } },
}) {}
