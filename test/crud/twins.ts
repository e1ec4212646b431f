import type { Answer, RequestOptions } from '../harness/client.js';
import { emptyTables } from '../harness/databases.js';
import type { Platform } from '../harness/platforms.js';
import { type CrudParts, type CrudService, startCrud } from './service.js';

/** One application twice, on two databases: one runs compiled statements, the other one goes through the repository. */
export interface Twins {
  readonly compiled: CrudService;
  readonly repository: CrudService;
  /**
   * Sends one request to both and holds their answers against each other, byte for byte.
   *
   * @param path may name a record that was created, by its `Location`
   * @returns the answer of the compiled one
   */
  send(method: string, path: Path, options?: RequestOptions): Promise<Answer>;
  get(path: Path): Promise<Answer>;
  post(path: Path, json: unknown): Promise<Answer>;
  put(path: Path, json: unknown): Promise<Answer>;
  del(path: Path): Promise<Answer>;
  /** Runs raw SQL on both databases. */
  query(sql: string, parameters?: unknown[]): Promise<void>;
  /** Removes all records of both. */
  empty(): Promise<void>;
  close(): Promise<void>;
}
type Path = string | ((locations: readonly string[]) => string);

/** @param mayFail whether a 500 is an answer like any other */
export async function startTwins(platform: Platform, parts: CrudParts, mayFail = false): Promise<Twins> {
  const compiled = await startCrud(platform, { ...parts, path: 'compiled' });
  const repository = await startCrud(platform, { ...parts, path: 'repository' });
  const twins = [compiled, repository].map((service) => ({ service, locations: [] as string[] }));
  const send: Twins['send'] = async (method, path, options) => {
    const answers: Answer[] = [];
    for (const { service, locations } of twins) {
      const answer = await service.send(method, typeof path === 'string' ? path : path(locations), options);
      const { location } = answer.headers;
      if (location !== undefined) locations.push(location);
      // Both log to the one that was started last.
      if (answer.status >= 500 && !mayFail)
        throw new Error(`${method} ${JSON.stringify(options)}: ${repository.logs.at(-1)}`);
      answers.push(answer);
    }
    const [mine, other] = answers.map(comparable);
    expect(mine).toEqual(other);
    return answers[0]!;
  };
  return {
    compiled,
    repository,
    send,
    get: (path) => send('GET', path),
    post: (path, json) => send('POST', path, { json }),
    put: (path, json) => send('PUT', path, { json }),
    del: (path) => send('DELETE', path),
    query: async (sql, parameters) => {
      for (const { service } of twins) await service.dataSource.query(sql, parameters);
    },
    empty: async () => {
      for (const { service } of twins) await emptyTables(service.dataSource, parts.database ?? 'sqlite');
    },
    close: async () => {
      for (const { service } of twins) await service.close();
    },
  };
}

/** What two applications have to say alike: all but the time, and the UUIDs that each has made for itself. */
function comparable({ status, headers, text }: Answer): object {
  const { date: _date, etag: _etag, location, ...others } = headers;
  return { status, headers: others, location: location && blanked(location), text: blanked(text) };
}

const blanked = (text: string): string =>
  text
    .replace(/"(timestamp|created|updated|published)":"([^"]*)"/g, (_, name: string, time: string) =>
      JSON.stringify({ [name]: time.replace(/\d/g, '0') }).slice(1, -1),
    )
    .replace(/[\d-]{10}T[\d:.]+Z(?=\\" or nothing)/g, '<time>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>');
