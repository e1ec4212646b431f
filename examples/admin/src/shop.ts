// The two providers, which share the login. Some resources are account endpoints instead of generated ones: `users`, which
// administrators change, and those of the user: `sessions`, `passkeys` and `keys`. Their lists have a fixed order.
import { authProvider, dataProvider, type DeclarestDataProvider } from 'ra-data-declarest';
import type { GetListParams, RaRecord } from 'react-admin';

const url: string = import.meta.env['VITE_SHOP_URL'] ?? 'http://localhost:3000/api';
const generated = dataProvider(url);

/** The resource of reviews, whose path names their product. */
export const REVIEWS = 'products/:productId/reviews';

const auth = authProvider(url);

/** Account endpoints of the own user, which nobody is refused. */
const OWN = ['sessions', 'passkeys', 'keys'];

/** The server says what the user may do with generated resources. Who lists users may change and invite them. */
export const shopAuth: typeof auth = {
  ...auth,
  canAccess: async ({ resource, action, ...rest }) =>
    OWN.includes(resource) || auth.canAccess({ resource, action: resource === 'users' ? 'list' : action, ...rest }),
};

interface UserPage<T> {
  readonly data: T[];
  readonly metadata: { readonly pagination: { readonly total: number } };
}

async function listUsers<T>({ pagination: { page, perPage } = { page: 1, perPage: 10 }, filter }: GetListParams) {
  const { q, role, active } = filter as { q?: string; role?: string; active?: boolean };
  const query = new URLSearchParams({ page: String(page), size: String(perPage) });
  if (q) query.set('q', q);
  if (role) query.set('filter[role]', role);
  if (active !== undefined) query.set('filter[active]', String(active));
  const { data } = await generated.custom<UserPage<T>>(`auth/users?${query}`);
  return { data: data.data, total: data.metadata.pagination.total };
}

async function listOwn<T>(resource: string) {
  const { data } = await generated.custom<{ data: T[] }>(`auth/${resource}`);
  return { data: data.data, total: data.data.length };
}

/** What administrators change of a user. */
const EDITABLE = ['role', 'active', 'firstName', 'lastName'];

async function updateUser<T>(id: unknown, data: Partial<RaRecord>, before: RaRecord) {
  const changed = EDITABLE.filter((name) => data[name] !== before[name]).map((name) => [name, data[name]]);
  const json: unknown = Object.fromEntries(changed);
  const answer = await generated.custom<{ data: { user: T } }>(`auth/users/${encodeURIComponent(String(id))}`, {
    method: 'PATCH',
    json,
  });
  return { data: answer.data.data.user };
}

/** A password that nobody knows: the user gets a link by mail to choose one. */
function unknownPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes));
}

async function inviteUser<T>({ role, ...fields }: Partial<RaRecord>) {
  const json = { ...fields, password: unknownPassword() };
  const { data } = await generated.custom<{ data: { user: RaRecord } }>('auth/register', { method: 'POST', json });
  const { user } = data.data;
  const at = `auth/users/${encodeURIComponent(String(user.id))}`;
  if (role !== user['role']) await generated.custom(at, { method: 'PATCH', json: { role } });
  await generated.custom(`${at}/reset`, { method: 'POST' });
  return { data: { ...user, role } as T };
}

/** The answer is the only one that has the key. The input of the time has no zone. */
async function createKey<T>({ name, expiresAt }: Partial<RaRecord>) {
  const json = { name, ...(expiresAt && { expiresAt: new Date(expiresAt).toISOString() }) };
  const { data } = await generated.custom<{ data: T }>('auth/keys', { method: 'POST', json });
  return { data: data.data };
}

export const shopData: DeclarestDataProvider = {
  ...generated,

  getList: <T extends RaRecord>(resource: string, params: GetListParams) => {
    if (resource === 'users') return listUsers<T>(params);
    if (OWN.includes(resource)) return listOwn<T>(resource);
    return generated.getList<T>(resource, params);
  },

  update: (resource, params) =>
    resource === 'users' ? updateUser(params.id, params.data, params.previousData) : generated.update(resource, params),

  create: (resource, params) => {
    if (resource === 'users') return inviteUser(params.data);
    return resource === 'keys' ? createKey(params.data) : generated.create(resource, params);
  },

  delete: async (resource, params) => {
    if (!OWN.includes(resource)) return generated.delete(resource, params);
    await generated.custom(`auth/${resource}/${encodeURIComponent(params.id)}`, { method: 'DELETE' });
    return { data: params.previousData ?? ({ id: params.id } as NonNullable<typeof params.previousData>) };
  },
};
