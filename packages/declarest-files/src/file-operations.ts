/** The operations of a file column: how they are declared, and what they do with a request. */
import { randomUUID } from 'node:crypto';
import { BadRequestException, HttpException, NotFoundException, type Type } from '@nestjs/common';
import type { CustomOperation, GeneratedController, HttpRequest, ListQuery, OperationContext } from 'declarest';
import type { DataSource } from 'typeorm';
import { describeDownload, describeUpload } from './description.js';
import { sendFile, type Response } from './download.js';
import { takeFile } from './fastify-bodies.js';
import type { FileColumnOptions, StoredFile } from './file-column.js';
import type { FileStorage } from './file-storage.js';
import { prefixOf } from './orphans.js';
import { discard } from './outage.js';
import { canScale, MAX_WIDTH, readWidth } from './scaled-image.js';
import { BYTES, receiveFile } from './upload.js';

export interface FileCall {
  readonly controller: GeneratedController<object>;
  readonly dataSource: DataSource;
  readonly context: OperationContext<Record<string, unknown>>;
  readonly id: string;
  readonly query: ListQuery;
  readonly request: HttpRequest;
  readonly response: Response;
}

export interface FileOperation {
  readonly declaration: CustomOperation & Required<Pick<CustomOperation, 'copyOf'>>;
  /** @returns the answer */
  handle(call: FileCall): Promise<unknown>;
  /** Adds metadata to the method that handles its requests. */
  prepare?(method: object): void;
}

const NAME = { type: 'string', minLength: 1, maxLength: 200 };
const WIDTH = { type: 'integer', minimum: 1, maximum: MAX_WIDTH };

export function fileOperations(
  entity: Type<object>,
  storage: FileStorage,
  column: string,
  options: FileColumnOptions,
): FileOperation[] {
  const { types } = options;
  const capital = column.charAt(0).toUpperCase() + column.slice(1);
  const path = `:id/${column}`;
  /** A method overrides each operation, because it needs the request. It gets what the operation would work with. */
  const run = (context: unknown): unknown => context;

  /** @throws what a PATCH of the column is refused with */
  async function change({ context, id }: FileCall, value: () => Promise<StoredFile | null>): Promise<unknown> {
    await context.assertChangeable(id);
    if (!context.mayWrite(column)) {
      const errors = [{ field: column, message: 'you may not write this field' }];
      throw new BadRequestException({ message: `${entity.name} is not valid`, errors });
    }
    const file = await value();
    try {
      return await context.resource.patch(id, { [column]: file }, { as: 'server' });
    } catch (error) {
      // After other errors, the transaction may be committed all the same.
      const isRefused = error instanceof HttpException && error.getStatus() < 500;
      if (file && isRefused) await discard(storage, file.key);
      throw error;
    }
  }

  const upload: FileOperation = {
    declaration: {
      name: `put${capital}`,
      route: { verb: 'PUT', path },
      copyOf: 'patch',
      description: {
        summary: `Store the ${column} of a {one}`,
        text: `The body is the file, of at most ${options.maxBytes} bytes. \`name\` is for downloads.`,
        parameters: { name: NAME },
        tool: `put{one}${capital}`,
        data: 'record',
      },
      run,
    },
    prepare(method) {
      takeFile(method);
      describeUpload(method, [...types, BYTES]);
    },
    handle: (call) =>
      change(call, () => {
        const key = prefixOf(call.dataSource, entity, column) + randomUUID();
        const name = call.query['name'] as string | undefined;
        return receiveFile(call.request, { storage, key, entity: entity.name, column, options, name });
      }),
  };

  const remove: FileOperation = {
    declaration: {
      name: `delete${capital}`,
      route: { verb: 'DELETE', path },
      copyOf: 'patch',
      description: { summary: `Remove the ${column} of a {one}`, tool: `delete{one}${capital}`, data: 'record' },
      run,
    },
    handle: (call) => change(call, () => Promise.resolve(null)),
  };

  const download: FileOperation = {
    declaration: {
      name: `get${capital}`,
      route: { verb: 'GET', path },
      copyOf: 'findById',
      description: {
        summary: `Download the ${column} of a {one}`,
        parameters: canScale(types) ? { width: WIDTH } : {},
        tool: `get{one}${capital}`,
        data: { type: 'string' },
      },
      run,
    },
    prepare: (method) => describeDownload(method, types),
    async handle({ controller, id, query, request, response }) {
      const { data: record } = await controller.findById(id);
      const file = (record as Readonly<Record<string, StoredFile | null | undefined>>)[column];
      if (!file) throw new NotFoundException(`${entity.name} with id ${id} has no ${column}`);
      const width = readWidth(query['width'] as string | undefined, file.type);
      return sendFile(storage, file, [request, response], width);
    },
  };
  return [upload, remove, download];
}
