/** `export`: the list as a file. It is read in batches, so that neither memory nor a connection is held for all of it. */
import { Readable } from 'node:stream';
import { Logger, StreamableFile } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import type { ListQuery } from '../declare/envelope.js';
import { viewOf } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { parseExportQuery, type ExportFormat } from '../query/export-query.js';
import { restrict } from '../read/related-records.js';
import { run } from '../read/statements.js';
import { and } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import type { PositionedRecord } from '../store/record-access.js';
import { csvHeader, csvLine } from './csv.js';
import { deletedIn } from './list.js';

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
  plan: Plan<T>,
  call: Call,
  query: ListQuery,
): Promise<StreamableFile> {
  const view = await viewOf(plan, call, 'export', deletedIn(plan, call, query));
  const { format, condition: asked, sort, fields } = parseExportQuery(query, view.list);
  const selection = { condition: and(view.visible, await restrict(plan, call, asked)), sort, fields };
  const { reader } = plan.store;
  const read = (last?: PositionedRecord<T>): Promise<PositionedRecord<T>[]> =>
    run(plan, call, () => reader.findAfter(call, selection, BATCH, last?.position));
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
  const isHead = call.request?.method === 'HEAD';
  const stream = Readable.from(isHead ? [] : write(await read()), { objectMode: false });
  const name = plan.options.endpoint.split('/').at(-1) ?? '';
  const disposition = `attachment; filename="${name}.${format}"`;
  return new StreamableFile(stream, { type, disposition }).setErrorHandler((_, response) => endConnection(response));
}

/** Nest 11 would end the response as if it were complete. Fastify destroys it by itself. */
function endConnection(response: object): void {
  (response as { destroy(): void }).destroy();
}
