/** The class factory of controllers with file columns. */
import { Inject, Req, RequestMapping, RequestMethod, Res, type OnModuleInit, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import { CrudController, InvalidOptionError, standardOperations } from 'declarest';
import type { CrudOptions, GeneratedController, GeneratedControllerClass } from 'declarest';
import type { HookContext, HttpRequest, ListQuery } from 'declarest';
import type { DataSource, EntityManager } from 'typeorm';
import type { Response } from './download.js';
import { acceptFiles } from './fastify-bodies.js';
import { fileColumnsOf, type StoredFile } from './file-column.js';
import { fileOperations, type FileCall } from './file-operations.js';
import type { FileStorage } from './file-storage.js';
import { BYTES } from './upload.js';

const DATA_SOURCE = Symbol('declarest-files.dataSource');
const ADAPTER_HOST = Symbol('declarest-files.adapterHost');

type Base = GeneratedController<object> & OnModuleInit;
/** What `run` of a file operation returns is its context. */
type GeneratedMethod = (id: string, query: ListQuery) => Promise<{ readonly data: FileCall['context'] }>;

/**
 * `CrudController` for an entity with file columns: `PUT`, `GET` and `DELETE {endpoint}/{id}/{column}` store, send and
 * remove the file of a record. Whoever may PATCH the record and write the column may store and remove it, and whoever may
 * read both gets it. Files are removed with their records.
 * @param storage where the files are
 * @throws InvalidOptionError
 * @example
 * export class TicketsController extends FileCrudController(
 *   { entity: Ticket, endpoint: '/api/tickets', owner: 'userId' },
 *   diskStorage('uploads'),
 * ) {}
 */
export function FileCrudController<T extends object>(
  options: CrudOptions<T>,
  storage: FileStorage,
): GeneratedControllerClass<T> {
  const { entity, dataSource, operations = standardOperations } = options;
  const columns = fileColumnsOf(entity);
  if (columns.size === 0) {
    const advice = 'Decorate a property with @FileColumn(…), or use CrudController';
    throw new InvalidOptionError('The entity of FileCrudController', 'one with a file column', entity.name, advice);
  }
  const names = operations.map((each) => (typeof each === 'string' ? each : each.name));
  const own = [...columns]
    .flatMap(([column, of]) => fileOperations(entity, storage, column, of))
    .filter(({ declaration }) => names.includes(declaration.copyOf));
  const declarations = own.map(({ declaration }) => declaration);
  const Generated = CrudController<T>({ ...options, operations: [...operations, ...declarations] });

  const keysOf = (record: object): string[] =>
    [...columns.keys()].flatMap((name) => (record as Readonly<Record<string, StoredFile | null>>)[name]?.key ?? []);

  /** Whether a deletion has left the row. */
  async function isHidden(record: object, manager: EntityManager): Promise<boolean> {
    const { deleteDateColumn, primaryColumns } = manager.connection.getMetadata(entity);
    if (!deleteDateColumn) return false;
    const names = primaryColumns.map(({ propertyName }) => propertyName);
    const where = Object.fromEntries(names.map((name) => [name, Reflect.get(record, name) as unknown]));
    return (await manager.count<object>(entity, { where, withDeleted: true })) > 0;
  }

  class WithFiles extends (Generated as unknown as Type<Base>) {
    declare readonly [DATA_SOURCE]: DataSource;
    declare readonly [ADAPTER_HOST]: HttpAdapterHost;

    override async onModuleInit(): Promise<void> {
      await super.onModuleInit();
      const types = [...columns.values()].flatMap((each) => each.types);
      acceptFiles(this[ADAPTER_HOST].httpAdapter, [...new Set([...types, BYTES])]);
    }

    override whenUpdated(record: object, before: object, { afterCommit }: HookContext): void {
      const kept = keysOf(record);
      for (const key of keysOf(before)) if (!kept.includes(key)) afterCommit(() => storage.remove(key));
    }

    override async whenDeleted(record: object, { manager, afterCommit }: HookContext): Promise<void> {
      const keys = keysOf(record);
      if (keys.length === 0 || (await isHidden(record, manager))) return;
      for (const key of keys) afterCommit(() => storage.remove(key));
    }
  }
  const { prototype } = WithFiles;
  Inject(getDataSourceToken(dataSource) as string)(prototype, DATA_SOURCE);
  Inject(HttpAdapterHost)(prototype, ADAPTER_HOST);
  Object.defineProperty(WithFiles, 'name', { value: Generated.name });
  for (const { declaration, handle, prepare } of own) {
    const { name, route } = declaration;
    const generated = Reflect.get(Generated.prototype as object, name) as GeneratedMethod;
    const methods = {
      async [name](this: WithFiles, id: string, query: ListQuery, request: HttpRequest, response: Response) {
        const { data: context } = await generated.call(this, id, query);
        return handle({ controller: this, dataSource: this[DATA_SOURCE], context, id, query, request, response });
      },
    };
    const method = { value: methods[name] as object, writable: true, configurable: true };
    Object.defineProperty(prototype, name, method);
    RequestMapping({ path: route.path, method: RequestMethod[route.verb] })(prototype, name, method);
    // It has the parameters of the operation, and these.
    Req()(prototype, name, 2);
    Res({ passthrough: true })(prototype, name, 3);
    prepare?.(method.value);
  }
  return WithFiles as unknown as GeneratedControllerClass<T>;
}
