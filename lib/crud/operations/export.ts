/** `export`: the list as a file. It is read in batches, so that neither memory nor a connection is held for all of it. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HttpException, Logger, StreamableFile } from '@nestjs/common';
import { textHeader } from '../../documents/operation-document.js';
import type { HttpRequest } from '../../http/http-request.js';
import type { ListQuery } from '../declare/envelope.js';
import { conditionParameters, formatParameter, recordParameters, sortParameters } from '../document/parameters.js';
import { fileResponse } from '../document/responses.js';
import { endConnection } from '../import/import.js';
import { beginTask, type Plan } from '../plan/plan.js';
import { parseExportQuery, type ExportFormat } from '../query/list-query.js';
import { hasRelations, selectedFields, type RecordRequest } from '../query/record-request.js';
import { addRelations, restrict } from '../read/related-records.js';
import { run } from '../read/run-with-retries.js';
import { and } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import type { PositionedRecord } from '../store/reader.js';
import { csvHeader, csvLine } from './csv.js';
import { deletedIn } from './list.js';
import type { Operation } from './operation.js';

/** Batches are sized by their bytes: records may be long. Other requests wait for one of each at a time. */
const BATCH_BYTES = 64 * 1024;
const FIRST_BATCH = 10;
const MAX_BATCH = 1_000;

/** How many records the next batch has. It grows step by step, because the next ones may be longer. */
const nextSize = (bytes: number, records: number): number =>
  Math.max(1, Math.min(MAX_BATCH, 4 * records, Math.floor((BATCH_BYTES / Math.max(1, bytes)) * records)));

interface FileFormat {
  readonly type: string;
  header(request: RecordRequest): string;
  line(record: object, request: RecordRequest): string;
}

const FORMATS: Readonly<Record<ExportFormat, FileFormat>> = {
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    header: () => '',
    line: (record) => `${JSON.stringify(record)}\n`,
  },
  csv: { type: 'text/csv; charset=utf-8; header=present', header: csvHeader, line: csvLine },
};

const logger = new Logger('declarest');

export const exportList: Operation = {
  name: 'export',
  route: { verb: 'GET', path: 'export', takes: ['query'] },
  enabledBy: 'enableExport',
  needsRequest: 'always',
  copyOf: 'findAll',
  description: {
    id: 'export{many}',
    summary: 'Export {tag}',
    parameters: (resource) => [
      formatParameter,
      ...sortParameters(resource),
      ...recordParameters(resource, false),
      ...conditionParameters(resource),
    ],
    headers: textHeader('Content-Disposition', 'The name of the file.'),
    file: fileResponse,
  },
  run: (plan, call, { query }) => write(plan, call, query),
};

/** @throws 400 naming every wrong parameter, 503 where the first records cannot be read */
async function write(plan: Plan, call: Call, query: ListQuery): Promise<StreamableFile> {
  const { store, schema, database, options } = plan;
  const { view } = await beginTask(plan, call, 'export', deletedIn(plan, call, query));
  const { format, condition: filter, sort, request } = parseExportQuery(query, view.list);
  const fields = selectedFields(request, schema.key);
  const selection = { condition: and(view.visible, await restrict(plan, call, filter)), sort, fields };
  let offset = 0;
  const readBatch = async (size: number, last?: PositionedRecord): Promise<PositionedRecord[]> => {
    const range = { limit: size, offset };
    // Without a key, equal records follow each other, and no position is behind one of them.
    const batch = await run(plan, call, async (within) =>
      schema.key.fields.length > 0
        ? store.reader.findAfter(within, selection, size, last?.position)
        : (await store.reader.find(within, { ...selection, range })).map((record) => ({ record, position: [] })),
    );
    offset += batch.length;
    const records = batch.map(({ record }) => record);
    if (hasRelations(request)) await addRelations(plan, call, records, request);
    return batch;
  };
  const read: typeof readBatch = (...range) =>
    database.connections.manager ? readBatch(...range) : database.batches.run(() => readBatch(...range));
  const { header, line, type } = FORMATS[format];

  async function* linesOf(first: PositionedRecord[]): AsyncGenerator<string> {
    yield header(request);
    try {
      let batch = first;
      for (let size = FIRST_BATCH; batch.length > 0;) {
        const text = batch.map(({ record }) => line(record, request)).join('');
        const [last, isLast] = [batch.at(-1), batch.length < size];
        size = nextSize(text.length, batch.length);
        batch = [];
        yield text;
        if (!isLast) batch = await read(size, last);
      }
    } catch (error) {
      logger.error('An export failed, its connection is ended.', error instanceof Error ? error.stack : undefined);
      if (!(error instanceof HttpException)) plan.observeError(error, call.request);
      resetOldConnection(call.request);
      throw error;
    }
  }

  // What fails before the first byte is answered as any failure. Platforms answer HEAD with GET's handler.
  const isHead = call.request?.method === 'HEAD';
  const stream = Readable.from(isHead ? [] : linesOf(await read(FIRST_BATCH)), { objectMode: false });
  const disposition = `attachment; filename="${options.endpoint.split('/').at(-1) ?? ''}.${format}"`;
  return new StreamableFile(stream, { type, disposition }).setErrorHandler(endConnection);
}

/** In HTTP/1.0, which nginx spoke by default, the end of a connection is that of the body, but for a reset (RFC 9112 §6.3). */
function resetOldConnection(request: HttpRequest | undefined): void {
  const { httpVersion, socket } = (request?.raw ?? request ?? {}) as Partial<IncomingMessage>;
  try {
    if (httpVersion === '1.0') socket?.resetAndDestroy();
  } catch {
    // Only a connection of TCP can be reset, not one of TLS or of a Unix socket.
  }
}
