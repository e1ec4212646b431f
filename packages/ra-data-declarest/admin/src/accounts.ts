/** Reads and changes the users of `AuthModule`, whose endpoints differ from those of generated resources. */
import type { DeclarestDataProvider } from 'ra-data-declarest';
import type {
  GetListParams,
  GetListResult,
  GetManyReferenceParams,
  GetOneParams,
  QueryFunctionContext,
  RaRecord,
  UpdateParams,
} from 'react-admin';

/** Names the ways in of a user as a resource, behind the name of the users. */
export const WAYS_IN = '/:id/ways-in';

interface UserPage<User> {
  readonly data: User[];
  readonly metadata: { readonly pagination: { readonly total: number } };
}

interface WaysIn {
  readonly data: readonly { readonly kind: string; readonly id: string }[];
}

/** @param isAccounts whether a resource is that of the users */
export function withAccounts(
  provider: DeclarestDataProvider,
  isAccounts: (resource: string) => boolean,
): DeclarestDataProvider {
  return {
    ...provider,

    getList: async <User extends RaRecord>(
      resource: string,
      params: GetListParams & QueryFunctionContext,
    ): Promise<GetListResult<User>> => {
      if (!isAccounts(resource)) return provider.getList<User>(resource, params);
      const { data: page } = await provider.custom<UserPage<User>>(`${resource}?${queryOf(params)}`, signalOf(params));
      return { data: page.data, total: page.metadata.pagination.total };
    },

    getOne: async <User extends RaRecord>(resource: string, params: GetOneParams<User> & QueryFunctionContext) => {
      if (!isAccounts(resource)) return provider.getOne<User>(resource, params);
      // One user has no GET. A change of nothing answers the user.
      const init = { ...signalOf(params), method: 'PATCH', json: {} };
      const path = `${resource}/${encodeURIComponent(params.id)}`;
      const { data: answer } = await provider.custom<{ readonly data: { readonly user: User } }>(path, init);
      return { data: answer.data.user };
    },

    update: async <User extends RaRecord>(resource: string, params: UpdateParams<User>) => {
      const answer = await provider.update<User>(resource, params);
      return isAccounts(resource) ? { data: answer.data['user'] as User } : answer;
    },

    getManyReference: async <Way extends RaRecord>(
      resource: string,
      params: GetManyReferenceParams & QueryFunctionContext,
    ): Promise<GetListResult<Way>> => {
      if (!resource.endsWith(WAYS_IN) || !isAccounts(resource.slice(0, -WAYS_IN.length)))
        return provider.getManyReference<Way>(resource, params);
      const path = resource.replace(':id', encodeURIComponent(params.id));
      const { data: answer } = await provider.custom<WaysIn>(path, signalOf(params));
      // Two kinds may have the same id. It is a path too.
      const ways = answer.data.map((way) => ({ ...way, id: `${way.kind}/${encodeURIComponent(way.id)}` }));
      return { data: ways as RaRecord[] as Way[], total: ways.length };
    },
  };
}

const signalOf = ({ signal }: QueryFunctionContext) => (signal ? { signal } : {});

/** The list takes a text and exact values, and has its own order. */
function queryOf({ filter = {}, pagination: { page, perPage } = { page: 1, perPage: 25 } }: GetListParams): string {
  const { q, ...values } = filter as Readonly<Record<string, unknown>>;
  const query = new URLSearchParams({ page: String(page), size: String(perPage) });
  const conditions = Object.entries(values).map(([name, value]): [string, unknown] => [`filter[${name}]`, value]);
  for (const [name, value] of [['q', q] as const, ...conditions])
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  return query.toString();
}
