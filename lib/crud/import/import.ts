/** `import`: stores the records of a file, all or none, or each part of it by itself. */
import { Readable, type Writable } from 'node:stream';
import { BadRequestException, HttpException, HttpStatus, StreamableFile } from '@nestjs/common';
import { TEXT } from '../../documents/operation-document.js';
import { failureOf } from '../../http/failure.js';
import type { JsonObject } from '../../http/json-body.js';
import type { OperationInput } from '../declare/custom-operation.js';
import type { BatchResult } from '../declare/envelope.js';
import type { DescribedOperation } from '../document/describe-operation.js';
import { atomicParameter } from '../document/parameters.js';
import { beginTask, type Plan, type Task } from '../plan/plan.js';
import { QueryParameters } from '../query/parameters.js';
import { writeOf } from '../read/run-with-retries.js';
import type { Call } from '../store/call.js';
import { createRecords } from '../write/create-records.js';
import { noName, refuseTransaction } from '../write/items.js';
import { recordsOf, type FileRecord } from './file-records.js';
import { FILE_TYPES, receiveUpload, type Upload } from './upload.js';

/** All are checked before the first one is written, and are in memory until then. */
const MAX_ATOMIC = 10_000;
const MAX_ATOMIC_BYTES = 2 ** 25;
/** Records that are written in one transaction with `atomic=false`. */
const PART = 200;

const NDJSON = 'application/x-ndjson';
const RESULTS = '{"line":1,"status":201,"data":{"id":7}}\n{"line":2,"status":400,"message":"Record is not valid"}\n';
const EXAMPLE = '{"name":"Lamp"}\n{"name":"Chair"}\n';

export const importFile = {
  name: 'import',
  route: { verb: 'POST', path: 'import', takes: ['query'], status: HttpStatus.OK },
  enabledBy: 'enableImport',
  copyOf: 'create',
  description: {
    id: 'import{many}',
    summary: 'Import {tag}',
    text: `The file has a record in each line, as JSON or as CSV. All are stored or none, at most ${MAX_ATOMIC}; any number with \`atomic=false\`.`,
    parameters: () => [atomicParameter],
    body: { type: 'string', examples: [EXAMPLE] },
    consumes: FILE_TYPES,
    file: () => ({
      description: 'The result of each line.',
      content: { [NDJSON]: { schema: TEXT, example: RESULTS } },
    }),
  },
  /** @throws 400 naming every wrong line, 401, 403, 409, 413, 415, 503 */
  async run(plan: Plan, call: Call, { query }: OperationInput): Promise<StreamableFile> {
    const parameters = new QueryParameters(query, ['atomic']);
    const isAtomic = parameters.flag('atomic', true);
    parameters.throwIfAny();
    if (!isAtomic) refuseTransaction(plan, call);
    const task = await beginTask(plan, call, 'import');
    if (!call.request) throw new BadRequestException('There is no request with a file');
    const upload = await receiveUpload(call.request);
    try {
      const records = await recordsOf(task, upload);
      const lines = isAtomic ? linesOf(await storeAll(task, records, upload)) : storeParts(task, records);
      const stream = Readable.from(lines, { objectMode: false }).once('close', () => void upload.remove());
      return new StreamableFile(stream, { type: `${NDJSON}; charset=utf-8` }).setErrorHandler(endConnection);
    } catch (error) {
      await upload.remove();
      throw error;
    }
  },
} satisfies DescribedOperation & { run: unknown };

/** Nest 11 would end the response as if it were complete. Fastify destroys it by itself. */
export const endConnection = (_: Error, response: object): void => void (response as Writable).destroy();

type LineResult = BatchResult<object> & { readonly line: number };

function* linesOf(results: readonly LineResult[]): Generator<string> {
  for (const result of results) yield `${JSON.stringify(result)}\n`;
}

async function storeAll(task: Task, records: AsyncIterable<FileRecord>, { bytes }: Upload): Promise<LineResult[]> {
  const limits = `${MAX_ATOMIC} records in ${MAX_ATOMIC_BYTES} bytes`;
  const tooLarge = new BadRequestException(`The file must have at most ${limits}; send atomic=false for more`);
  if (bytes > MAX_ATOMIC_BYTES) throw tooLarge;
  const all: FileRecord[] = [];
  for await (const record of records) {
    all.push(record);
    if (all.length > MAX_ATOMIC) throw tooLarge;
  }
  const nameOf = (index: number): string => `lines[${all[index]?.line}]`;
  return createRecords(task, all, nameOf, (created) => resultsOf(all, created), bodyOf);
}

/** The results of a part follow its commit. A failure of the server ends the file: lines without a result are not stored. */
async function* storeParts(task: Task, records: AsyncIterable<FileRecord>): AsyncGenerator<string> {
  let part: FileRecord[] = [];
  // A hook may have other effects, which no rollback takes back.
  const size = writeOf(task, 'create', []).isRepeatable ? PART : 1;
  try {
    for await (const record of records) {
      part.push(record);
      if (part.length < size) continue;
      yield* linesOf(await storePart(task, part));
      part = [];
    }
    if (part.length > 0) yield* linesOf(await storePart(task, part));
  } catch (error) {
    yield* linesOf([await refusedIn(task, part, error)]);
  }
}

/** A part of which a record is refused is halved, until that one is alone. @throws what is no refusal */
async function storePart(task: Task, part: readonly FileRecord[]): Promise<LineResult[]> {
  try {
    return await createRecords(task, part, noName, (created) => resultsOf(part, created), bodyOf);
  } catch (error) {
    if (!(error instanceof HttpException) || error.getStatus() >= 500) throw error;
    if (part.length === 1) return [await refusedIn(task, part, error)];
    const middle = Math.ceil(part.length / 2);
    return [...(await storePart(task, part.slice(0, middle))), ...(await storePart(task, part.slice(middle)))];
  }
}

const bodyOf = (record: FileRecord): JsonObject => record.read();

const resultsOf = (part: readonly FileRecord[], created: readonly object[]): LineResult[] =>
  part.map(({ line }, index) => ({ line, status: HttpStatus.CREATED, data: created[index] as object }));

async function refusedIn({ plan, call }: Task, [first]: readonly FileRecord[], error: unknown): Promise<LineResult> {
  const { members, ...failure } = await failureOf(error, call.request, plan.failureTools());
  return { line: first?.line ?? 1, ...members, ...failure };
}
