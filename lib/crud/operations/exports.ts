/** Exports a list as a file. It is read in batches, so that neither memory nor a connection is held for the whole list. */
import { Readable } from 'node:stream';
import { Logger, StreamableFile } from '@nestjs/common';
import { and } from '../sql/condition.js';
import { parseExportQuery, type ExportFormat } from '../query/export-query.js';
import type { ListQuery } from '../query/list-query.js';
import { csvHeader, csvLine } from './csv.js';
import type { Field } from '../../entities/entity-schema.js';
import type { PositionedRecord } from '../store/record-access.js';
import { currentRequest } from '../nest/request-context.js';
import type { ResourceAccess } from './resource-access.js';

const BATCH = 1_000;

interface FileFormat {
  readonly type: string;
  header(fields: readonly Field[]): string;
  line(record: object, fields: readonly Field[]): string;
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

/** @throws 400 naming every wrong parameter, 503 where the first records cannot be read */
export async function exportList<T extends object>(
  access: ResourceAccess<T>,
  query: ListQuery,
): Promise<StreamableFile> {
  const view = await access.listView('export', query);
  const relations = await access.relationViews(view, query);
  const { format, condition, sort, fields } = parseExportQuery(query, relations.list);
  const selection = { condition: and(view.visible, relations.restrict(condition)), sort, fields };
  const read = (last?: PositionedRecord<T>): Promise<PositionedRecord<T>[]> =>
    access.run(() => access.store.reader.findAfter(selection, BATCH, last?.position));
  const { header, line, type } = FORMATS[format];

  async function* write(first: PositionedRecord<T>[]): AsyncGenerator<string> {
    yield header(fields);
    try {
      for (let batch = first; batch.length > 0; batch = batch.length < BATCH ? [] : await read(batch.at(-1)))
        yield batch.map(({ record }) => line(record, fields)).join('');
    } catch (error) {
      logger.error('An export failed, its connection is ended.', error instanceof Error ? error.stack : undefined);
      throw error;
    }
  }

  // What fails before the first byte is answered as any failure. Platforms answer HEAD with GET's handler.
  const isHead = currentRequest()?.method === 'HEAD';
  const stream = Readable.from(isHead ? [] : write(await read()), { objectMode: false });
  const name = access.resource.options.endpoint.split('/').at(-1) ?? '';
  const disposition = `attachment; filename="${name}.${format}"`;
  return new StreamableFile(stream, { type, disposition }).setErrorHandler((_, response) => endConnection(response));
}

/** Nest 11 would end the response as if it were complete. Fastify destroys it by itself. */
function endConnection(response: object): void {
  (response as { destroy(): void }).destroy();
}
