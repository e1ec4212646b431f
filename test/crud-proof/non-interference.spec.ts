/**
 * Non-interference: two databases that differ only in what a caller may not see give the same bytes for every request.
 * `NONINTERFERENCE_REQUESTS=20000` for the full run on each database, `NONINTERFERENCE_SEED=7` for other requests.
 */
import { Agent, request as send } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { authModule } from '../access/ruled-app.js';
import { type Random, seeded } from '../access/random.js';
import { type CrudService, startCrud } from '../crud/service.js';
import { DATABASES } from '../harness/databases.js';
import { authorizationOf } from '../harness/tokens.js';
import { CALLER, ENTITIES, fill, type Ids, newspaper, NUMBERS, TEXTS } from './newspaper.js';

const REQUESTS = Number(process.env['NONINTERFERENCE_REQUESTS'] ?? 300);
const SEED = Number(process.env['NONINTERFERENCE_SEED'] ?? 1);
/** The records are replaced after so many requests. */
const ROUND = 150;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

type Json = Record<string, unknown>;

/** What each resource is asked for, and what the caller may not name. */
const RESOURCES = {
  authors: {
    fields: ['id', 'name', 'team'],
    texts: ['name', 'articles.title'],
    numbers: ['id'],
    sorts: ['name'],
    includes: ['articles', 'articles.tags'],
    secrets: ['email', 'deletedAt', 'articles.cost'],
  },
  tags: {
    fields: ['id', 'label', 'shown', 'articlesIds'],
    texts: ['label', 'articles.title', 'articles.author.name'],
    numbers: ['id'],
    sorts: ['label'],
    includes: ['articles', 'articles.author'],
    secrets: ['articles.cost'],
  },
  articles: {
    fields: ['id', 'title', 'slug', 'price', 'team', 'ownerId', 'authorId', 'tagsIds', 'version'],
    texts: ['title', 'author.name', 'tags.label', 'comments.text', 'tags.articles.title'],
    numbers: ['id', 'price', 'authorId'],
    sorts: ['title', 'price', 'authorId'],
    includes: ['author', 'tags', 'comments', 'author.articles', 'tags.articles'],
    secrets: ['cost', 'deletedAt', 'author.email', 'comments.note'],
  },
  comments: {
    fields: ['id', 'text', 'writerId', 'articleId'],
    texts: ['text', 'article.title', 'article.author.name'],
    numbers: ['id', 'writerId'],
    sorts: ['text'],
    includes: ['article', 'article.tags'],
    secrets: ['note', 'article.cost', 'article.author.email'],
  },
} as const;
type ResourceName = keyof typeof RESOURCES;
const NAMES = Object.keys(RESOURCES) as ResourceName[];

class Requests {
  /** Of earlier answers, which are the same on both databases. */
  private readonly pages: { path: string; next: string }[] = [];
  private readonly tags: string[] = ['"1"', '"2"', '*', 'W/"1"'];

  constructor(
    private readonly random: Random,
    private readonly ids: Ids,
  ) {}

  learn({ path }: Request, { headers, text }: Answer): void {
    const etag = headers['etag'];
    if (typeof etag === 'string') this.tags.push(etag);
    const [, next] = /"next":"([^"]+)"/.exec(text) ?? [];
    if (next !== undefined) this.pages.push({ path: path.replace(/&after=[^&]*/, ''), next });
  }

  next(): Request {
    const { random, ids } = this;
    const name = random.of(['articles', ...NAMES] as const);
    const endpoint = this.endpoint(name);
    const isSeen = name === 'comments' && ids.paths.length > 0 && this.chance(60);
    const path = isSeen ? random.of(ids.paths) : `${endpoint}/${this.id(name)}`;
    return random.of<() => Request>([
      () => this.list(name, endpoint, {}),
      () => this.list(name, endpoint, {}),
      () =>
        this.list(name, `${endpoint}/search`, {
          [this.chance(70) ? 'q' : this.name(name, RESOURCES[name].sorts)]: random.of(TEXTS),
        }),
      () => ({ method: 'GET', path: `${endpoint}/count?${this.query([...this.filters(name)])}` }),
      () => this.aggregate(this.chance(70) ? 'articles' : 'comments'),
      () => this.export(this.chance(70) ? 'articles' : 'comments'),
      () => this.continued(name, endpoint),
      () => ({ method: 'GET', path: `${path}?${this.query(this.shape(name))}`, ...this.conditional('if-none-match') }),
      () => ({ method: 'GET', path: `${endpoint}/exists/${this.id(name)}` }),
      () => ({ method: 'POST', path: endpoint, json: this.body(name, 97), ...this.repeatable() }),
      () => this.batch(name, endpoint),
      () => ({ method: 'PUT', path, json: this.body(name, 97), ...this.conditional('if-match') }),
      () => ({ method: 'PATCH', path, json: this.body(name, 30), ...this.conditional('if-match') }),
      () => ({
        method: 'DELETE',
        path: this.chance(10) ? `${path}?purge=true` : path,
        ...this.conditional('if-match'),
      }),
      () => ({ method: 'POST', path: `${path}/restore` }),
    ])();
  }

  private chance(percent: number): boolean {
    return this.random.below(100) < percent;
  }

  private id(name: ResourceName): number {
    return this.chance(95) ? this.random.of(this.ids[name]) : 9_999_999;
  }

  private endpoint(name: ResourceName): string {
    return name === 'comments' ? `/articles/${this.id('articles')}/comments` : `/${name}`;
  }

  private conditional(header: string): Pick<Request, 'headers'> {
    return this.chance(20) ? { headers: { [header]: this.random.of(this.tags) } } : {};
  }

  /** Some requests repeat an earlier one, or its key with another body. */
  private repeatable(): Pick<Request, 'headers'> {
    return this.chance(30) ? { headers: { 'idempotency-key': `key-${this.random.below(4)}` } } : {};
  }

  private batch(name: ResourceName, endpoint: string): Request {
    const { random } = this;
    const path = `${endpoint}/batch${this.chance(25) ? '?atomic=false' : ''}`;
    const items = (item: () => Json): Json => ({ items: Array.from({ length: 1 + random.below(3) }, item) });
    return random.of<() => Request>([
      () => ({ method: 'POST', path, json: items(() => this.body(name, 99)), ...this.repeatable() }),
      () => ({ method: 'PATCH', path, json: items(() => ({ ...this.body(name, 20), id: this.id(name) })) }),
      () => ({ method: 'DELETE', path: `${endpoint}/batch?ids=${this.id(name)},${this.id(name)}` }),
    ])();
  }

  private query(parameters: readonly (readonly [string, string])[]): string {
    return new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
  }

  private some<V>(values: readonly V[], most: number): V[] {
    return this.random.shuffled(values).slice(0, 1 + this.random.below(most));
  }

  /** A name that the caller may send, or rarely another one. */
  private name(name: ResourceName, names: readonly string[]): string {
    return this.chance(96) ? this.random.of(names) : this.random.of(RESOURCES[name].secrets);
  }

  private filters(name: ResourceName): [string, string][] {
    const { random } = this;
    const { texts, numbers } = RESOURCES[name];
    return Array.from({ length: random.below(3) }, () => {
      const isText = this.chance(60);
      const operators = [
        'eq',
        'ne',
        'gt',
        'lte',
        'in',
        'nin',
        'isNull',
        ...(isText ? ['icontains', 'startsWith'] : []),
      ];
      const operator = random.of(operators);
      const group = random.of(['', '', '', '[not]', '[or][0]', '[or][1]', '[and][0]', '[or][0][not]']);
      const number = (): number => random.of([...NUMBERS, ...this.ids.authors, ...this.ids[name]]);
      const value = (): string => (isText ? random.of(TEXTS) : `${number()}`);
      const values = operator === 'in' || operator === 'nin' ? `${value()},${value()}` : value();
      const sent = operator === 'isNull' ? random.of(['true', 'false']) : values;
      return [`filter${group}[${this.name(name, isText ? texts : numbers)}][${operator}]`, sent];
    });
  }

  /** `fields` and `include`. */
  private shape(name: ResourceName): [string, string][] {
    const { fields, includes } = RESOURCES[name];
    const included = this.chance(40) ? this.some<string>(includes, 2) : [];
    const parameters: [string, string][] = [];
    if (this.chance(20)) parameters.push(['fields', [...this.some<string>(fields, 4), this.name(name, fields)].join()]);
    if (included.length > 0) parameters.push(['include', included.join()]);
    if (included.length > 0 && this.chance(20))
      parameters.push([`fields[${included[0]}]`, this.random.of(['id', 'id', 'email', 'cost', 'note', 'title'])]);
    return parameters;
  }

  private order(name: ResourceName): [string, string][] {
    if (!this.chance(60)) return [];
    const { sorts } = RESOURCES[name];
    const names = new Set([this.name(name, sorts), this.name(name, sorts)]);
    return [['sort', [...names].map((each) => (this.chance(50) ? `-${each}` : each)).join()]];
  }

  private list(name: ResourceName, path: string, more: Readonly<Record<string, string>>): Request {
    const { random } = this;
    const page: [string, string][] = this.chance(50)
      ? [
          ['page', `${1 + random.below(3)}`],
          ...(this.chance(30) ? [['count', random.of(['none', 'estimated', 'capped'])] as [string, string]] : []),
        ]
      : [['pagination', 'cursor']];
    const deleted: [string, string][] = this.chance(3) ? [['deleted', random.of(['with', 'only'])]] : [];
    const parameters = [
      ...Object.entries(more),
      ...this.filters(name),
      ...this.order(name),
      ...this.shape(name),
      ...page,
      ...deleted,
    ];
    return { method: 'GET', path: `${path}?${this.query(parameters)}&size=${1 + random.below(6)}` };
  }

  /** The next page of an earlier list, or of another one with its cursor. */
  private continued(name: ResourceName, endpoint: string): Request {
    if (this.pages.length === 0) return this.list(name, endpoint, {});
    const { path, next } = this.random.of(this.pages);
    return this.chance(80)
      ? { method: 'GET', path: `${path}&after=${next}` }
      : this.list(name, endpoint, { after: next, pagination: 'cursor' });
  }

  private aggregate(name: 'articles' | 'comments'): Request {
    const fields = name === 'comments' ? ['text', 'writerId', 'note'] : ['price', 'price', 'authorId', 'cost', 'title'];
    const functions = this.some(['sum', 'min', 'max', 'groupBy'], 2);
    const parameters = functions.map((each): [string, string] => [each, this.random.of(fields)]);
    return {
      method: 'GET',
      path: `${this.endpoint(name)}/aggregate?${this.query([...parameters, ...this.filters(name)])}`,
    };
  }

  private export(name: 'articles' | 'comments'): Request {
    const parameters = [
      ['format', this.random.of(['csv', 'ndjson'])] as const,
      ...this.filters(name),
      ...this.order(name),
    ];
    return { method: 'GET', path: `${this.endpoint(name)}/export?${this.query(parameters)}` };
  }

  /** @param percent how often a field that a new record must have is sent */
  private body(name: ResourceName, percent: number): Json {
    const { random } = this;
    const text = random.of(TEXTS);
    const needed: Readonly<Record<ResourceName, Json>> = {
      authors: { name: text, email: text, team: this.chance(90) ? 1 : 2 },
      tags: { label: text },
      articles: { title: text, team: this.chance(90) ? 1 : 2 },
      comments: { text },
    };
    const further: Readonly<Record<ResourceName, Json>> = {
      authors: {},
      tags: { shown: this.chance(80), articlesIds: this.some(this.ids.articles, 3) },
      articles: {
        slug: text,
        price: random.of([null, ...NUMBERS]),
        authorId: random.of([null, ...this.ids.authors]),
        tagsIds: this.some(this.ids.tags, 3),
      },
      comments: { articleId: random.of(this.ids.articles) },
    };
    const body: Json = {};
    for (const [field, value] of Object.entries(needed[name])) if (this.chance(percent)) body[field] = value;
    for (const [field, value] of Object.entries(further[name])) if (this.chance(25)) body[field] = value;
    if (this.chance(8)) body[this.name(name, RESOURCES[name].fields)] = random.of([...TEXTS, ...NUMBERS]);
    return body;
  }
}

/**
 * The bytes of an answer, but for the time and an estimated total: the statistics of MySQL and MariaDB count hidden records
 * too, as docs say.
 */
const comparable = ({ status, headers, text }: Answer): string => {
  const { date: _date, etag, 'content-length': length, ...others } = headers;
  // Express makes a weak one of the body, in which the time is.
  const strong = typeof etag === 'string' && !etag.startsWith('W/') ? { etag } : {};
  const body = text.replace(/"timestamp":"[^"]*"/, '');
  if (!body.includes('"estimated":true')) return JSON.stringify([status, { ...others, ...strong, length }, body]);
  return JSON.stringify([status, { ...others, ...strong }, body.replace(/"total":\d+,"totalPages":\d+/, '')]);
};

const WHERE = DATABASES.flatMap((database) => [
  { database, platform: 'express', path: 'compiled', share: 0 } as const,
  { database, platform: 'fastify', path: 'repository', share: 1 } as const,
]);

describe.each(WHERE)('on $database and $platform, $path', ({ database, platform, path, share }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  let services: CrudService[];
  let headers: Record<string, string>;
  beforeAll(async () => {
    const start = () =>
      startCrud(platform, {
        database,
        path,
        entities: ENTITIES,
        imports: [newspaper(), authModule({ defaultAccess: 'public' })],
      });
    services = [await start(), await start()];
    headers = authorizationOf(CALLER);
  });
  afterAll(async () => {
    agent.destroy();
    for (const service of services) await service.close();
  });

  const answer = ({ port }: CrudService, { method, path: target, json, headers: more }: Request): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const body = json === undefined ? undefined : JSON.stringify(json);
      const content =
        body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const options = {
        port,
        host: '127.0.0.1',
        agent,
        method,
        path: target,
        headers: { ...headers, ...content, ...more },
      };
      const outgoing = send(options, (response) => {
        const read = async (): Promise<Answer> => ({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: await readText(response),
        });
        read().then(resolve, reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  const count = Math.ceil(REQUESTS / 2);
  it(
    `[9.4] ${count} random requests have the same answers, whatever the caller may not see`,
    async () => {
      const statuses = new Set<number>();
      for (let round = 0; round * ROUND < count; round += 1) {
        const seed = SEED * 1_000_000 + share * 100_000 + round;
        const filled = await Promise.all(
          services.map(({ dataSource }, place) => fill(dataSource, seeded(seed), seeded(seed * 3 + place))),
        );
        const [ids] = filled as [Ids, Ids];
        expect(filled[1]).toEqual(ids);
        const requests = new Requests(seeded(seed + 7), ids);
        for (let place = 0; place < Math.min(ROUND, count - round * ROUND); place += 1) {
          const request = requests.next();
          const [one, other] = (await Promise.all(services.map((each) => answer(each, request)))) as [Answer, Answer];
          const is500 = one.status >= 500 && one.status !== 501;
          if (is500 || comparable(one) !== comparable(other))
            throw new Error(
              `seed ${seed}, request ${place}: ${JSON.stringify(request)}\none   ${comparable(one)}\nother ${comparable(other)}\n${services[1]!.logs.at(-1)}`,
            );
          statuses.add(one.status);
          requests.learn(request, one);
        }
      }
      // The requests reach what they are meant to reach.
      expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 207, 400, 403, 404, 409, 412, 422]));
    },
    60_000 + REQUESTS * 200,
  );
});
