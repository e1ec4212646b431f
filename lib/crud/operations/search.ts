/** `GET {endpoint}/search`, with the option `enableSearch`: a list of the records with a text in searchable fields. */
import { listParameters, searchParameters } from '../document/parameters.js';
import { LIST_DESCRIPTION, list } from './list.js';
import type { Operation } from './operation.js';

export const search: Operation = {
  name: 'search',
  route: { verb: 'GET', path: 'search', takes: ['query'] },
  enabledBy: 'enableSearch',
  needsRequest: 'with a total',
  copyOf: 'findAll',
  description: {
    ...LIST_DESCRIPTION,
    id: 'search{many}',
    summary: 'Search {tag}',
    parameters: (resource) => [...searchParameters(resource), ...listParameters(resource)],
  },
  run: (plan, call, { query }) => list(plan, call, query, 'search'),
};
