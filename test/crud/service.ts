import type { ModuleMetadata, Provider, Type } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { CrudModule, type CrudResource } from 'declarest';
import { DataSource, EventSubscriber, type EntitySubscriberInterface } from 'typeorm';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { createDatabase, type DatabaseName } from '../harness/databases.js';
import { type Platform, type RunningApp, startApp, type StartOptions } from '../harness/platforms.js';

export type DataPath = 'compiled' | 'repository';

export interface CrudParts extends StartOptions {
  database?: DatabaseName;
  /**
   * What the data source knows; without it, what `forFeature` was ever given in this test file, for Nest remembers that
   * as long as the process lives.
   */
  entities?: Type[];
  /** How the tables are reached; without it, as `TEST_CRUD_PATH` says, or as the entities have it. */
  path?: DataPath;
  /** Merged into the data source's options. */
  dataSource?: Partial<TypeOrmModuleOptions>;
  /** The arguments of one `CrudModule.forFeature`, made when everything else is; none leaves the module out. */
  resources?: CrudResource[] | (() => CrudResource[]);
  imports?: NonNullable<ModuleMetadata['imports']>;
  controllers?: Type[];
  providers?: Provider[];
  /** False where code of the application answers something that the OpenAPI document does not say; or of which paths. */
  isDescribed?: boolean | ((path: string) => boolean);
}

export interface CrudService extends RunningApp {
  dataSource: DataSource;
  get: (path: string) => Promise<Answer>;
  post: (path: string, json: unknown) => Promise<Answer>;
  put: (path: string, json: unknown) => Promise<Answer>;
  del: (path: string) => Promise<Answer>;
  send: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
}

/** Hears everything and does nothing: with it, no access of any entity is compiled. */
@EventSubscriber()
export class HearsEverything implements EntitySubscriberInterface {
  afterLoad(): void {}
  beforeInsert(): void {}
  afterInsert(): void {}
  beforeUpdate(): void {}
  afterUpdate(): void {}
  beforeRemove(): void {}
  afterRemove(): void {}
  beforeSoftRemove(): void {}
  afterSoftRemove(): void {}
}

/** Sees everything and does nothing: with it, Nest's router runs the generated handlers. */
const SEES_EVERYTHING: Provider = { provide: APP_PIPE, useValue: { transform: (value: unknown) => value } };

/**
 * Every suite can be run through TypeORM's repository instead of the compiled statements, and through Nest's router instead
 * of past it.
 */
const isForced = (path: unknown = process.env['TEST_CRUD_PATH']): boolean => path === 'repository';

/** With `TEST_DOCUMENT=on`, every request and answer is held against the OpenAPI document of the service. */
async function documentCheck(app: RunningApp['app']) {
  if (process.env['TEST_DOCUMENT'] !== 'on') return undefined;
  const { checkOf } = await import('../openapi/described.js');
  return checkOf(app);
}

/** Generated endpoints and nothing else, open to everybody, over a database of their own. */
export async function startCrud(platform: Platform, parts: CrudParts): Promise<CrudService> {
  const database = await createDatabase(parts.database);
  try {
    const { resources = [], imports = [], controllers = [], providers = [] } = parts;
    const forced = isForced(parts.path);
    const declared = typeof resources === 'function' ? resources() : resources;
    const running = await startApp(
      platform,
      {
        imports: [
          TypeOrmModule.forRoot({
            ...database.options,
            ...(parts.entities && { autoLoadEntities: false, entities: parts.entities }),
            ...parts.dataSource,
            subscribers: [
              ...(Object.values(parts.dataSource?.subscribers ?? {}) as Type[]),
              ...(forced ? [HearsEverything] : []),
            ],
          } as TypeOrmModuleOptions),
          ...(declared.length > 0 ? [CrudModule.forFeature(...declared)] : []),
          ...imports,
        ],
        controllers,
        providers: [...providers, ...(forced ? [SEES_EVERYTHING] : [])],
      },
      {
        ...parts,
        onClose: async () => {
          await parts.onClose?.();
          await database.drop();
        },
      },
    );
    const { isDescribed = true } = parts;
    const check = isDescribed === false ? undefined : await documentCheck(running.app);
    const send: CrudService['send'] = async (method, path, options) => {
      const answer = await request(running.url, method, path, options);
      if (isDescribed === true || (isDescribed && isDescribed(path)))
        check?.({ method, path, json: options?.json }, answer);
      return answer;
    };
    return {
      ...running,
      dataSource: running.app.get(DataSource, { strict: false }),
      get: (path) => send('GET', path),
      post: (path, json) => send('POST', path, { json }),
      put: (path, json) => send('PUT', path, { json }),
      del: (path) => send('DELETE', path),
      send,
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}

/** The error with which such a service refuses to be declared or to boot. Rejects when it does neither. */
export async function crudError(platform: Platform, parts: CrudParts): Promise<Error> {
  let service: CrudService;
  try {
    service = await startCrud(platform, parts);
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError(`The boot failed with something that is no Error: ${String(error)}`, { cause: error });
  }
  await service.close();
  throw new Error('The service was expected to refuse to boot, but it is up.');
}

/** Local date-time in ISO 8601 without offset. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/;

/** The whole body of a success. */
export function success(message: unknown, data: unknown, metadata?: unknown): object {
  return {
    success: true,
    message,
    data,
    timestamp: expect.stringMatching(TIMESTAMP) as unknown,
    ...(metadata !== undefined && { metadata }),
  };
}

/** The whole body of a failure without `errors`. @param fields what a 409 says of them */
export function failure(message: unknown, fields?: Readonly<Record<string, unknown>>): object {
  return { success: false, message, timestamp: expect.stringMatching(TIMESTAMP) as unknown, ...(fields && { fields }) };
}

/** Any message that names this. */
export const naming = (text: string): unknown => expect.stringContaining(text) as unknown;

/** The list of allowed names behind a message, which `fields` leaves out. */
const ALLOWED = /^(unknown .*?)(?:; known ones are .*|; none is known|, expected one of .*|, expected items)$/s;

/** Holds a 400 against the shape of a validation failure; the fields it names, sorted. */
/** @param answer of the harness's client, or of `declarest/testing` */
export function wrongFields(answer: { readonly status: number; readonly json: unknown }): string[] {
  const { errors = [] } = answer.json as { errors?: { field: string; message: string }[] };
  const named = [...new Set(errors.flatMap(({ field }) => field || []))];
  const messageOf = (name: string): string =>
    errors.flatMap(({ field, message }) => (field === name ? message.replace(ALLOWED, '$1') : [])).join('; ');
  const fields = named.length > 0 ? Object.fromEntries(named.map((name) => [name, messageOf(name)])) : undefined;
  expect([answer.status, answer.json]).toEqual([
    400,
    { ...failure(expect.stringMatching(/\S/), fields), errors: expect.any(Array) as unknown },
  ]);
  for (const error of errors)
    expect(error).toEqual({ field: expect.any(String) as unknown, message: expect.stringMatching(/\S/) as unknown });
  return [...new Set(errors.map(({ field }) => field))].toSorted();
}

/** Neither a 500, nor an answer in another shape than the envelope's. */
export function expectEnvelope(answer: Answer): void {
  const { status, text, json } = answer;
  if (status >= 500 || typeof json?.success !== 'boolean' || json.success !== status < 400)
    throw new Error(`Expected an envelope below 500, got ${status} ${text}`);
  expect(json).toMatchObject({ message: expect.any(String), timestamp: expect.stringMatching(TIMESTAMP) });
}
