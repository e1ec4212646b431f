import { envelope } from '../declare/envelope.js';
import { recordParameters } from '../document/parameters.js';
import { beginTask } from '../plan/plan.js';
import { hasRelations, parseRecordQuery } from '../query/record-request.js';
import { answerRecord, findColumns, notFoundError, notEnabled, readId } from '../read/records.js';
import { addRelations } from '../read/related-records.js';
import type { Operation } from './operation.js';

export const findById: Operation = {
  name: 'findById',
  route: { verb: 'GET', path: ':id', takes: ['id', 'query'] },
  needsRequest: 'with a version',
  description: {
    id: 'get{one}',
    summary: 'Get a {one}',
    parameters: recordParameters,
    data: 'record',
  },
  /** @throws 400 for a malformed id or parameter, 404 for an unknown id */
  async run(plan, call, { id, query }) {
    const key = readId(plan, id, findById);
    const task = await beginTask(plan, call, 'findById');
    const request = parseRecordQuery(query, task.view.list);
    const record = await findColumns(task, key, request);
    if (!record) throw notEnabled(plan, id, findById) ?? notFoundError(plan, id);
    const metadata = hasRelations(request) ? await addRelations(plan, call, [record], request) : undefined;
    const message = `${plan.schema.name} found`;
    const isWhole = !('fields' in query || 'include' in query);
    return isWhole ? answerRecord(task, message, record) : envelope(message, record, metadata);
  },
};
