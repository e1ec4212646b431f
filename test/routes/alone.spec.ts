/** On Fastify a generated handler answers at once where nobody has anything left to do behind it, and else behind them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { INestApplication, MiddlewareConsumer } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { cors, routesOf, CrudController } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudParts, type CrudService } from '../crud/service.js';
import { type DatabaseName, DATABASES } from '../harness/databases.js';

@Entity()
class Lamp {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

class LampsController extends CrudController({ entity: Lamp, endpoint: '/api/lamps' }) {}

interface Reply {
  readonly sent: boolean;
  header(name: string, value: string): unknown;
}
type Done = (error?: null, payload?: unknown) => void;
type Handler = (request: unknown, reply: Reply) => unknown;
interface Instance {
  readonly server: {
    emit: (name: string, ...args: unknown[]) => unknown;
    on(event: 'request', listener: (request: unknown, response: ServerResponse) => void): unknown;
  };
  addHook(name: string, hook: (...args: never[]) => unknown): unknown;
  use(middleware: (request: unknown, response: ServerResponse, next: () => void) => void): unknown;
}

const instanceOf = (app: INestApplication): Instance => app.getHttpAdapter().getInstance() as Instance;

const late = (response: ServerResponse): unknown => response.setHeader('x-late', 'yes');
const lateHook = (_request: unknown, reply: Reply, done: Done): void => {
  done();
  reply.header('x-late', 'yes');
};
const lateParsing = (_request: unknown, reply: Reply, payload: unknown, done: Done): void => {
  done(null, payload);
  reply.header('x-late', 'yes');
};
const lateMiddleware = (_request: unknown, response: ServerResponse, next: () => void): void => {
  next();
  late(response);
};
/** Puts a function around every handler. */
const lateAround = (options: { handler: Handler }): void => {
  const { handler } = options;
  options.handler = function (this: unknown, request, reply) {
    const answer = handler.call(this, request, reply);
    reply.header('x-late', 'yes');
    return answer;
  };
};

const hooked =
  (place: string, hook: (...args: never[]) => unknown = lateHook): NonNullable<CrudParts['configure']> =>
  (app) =>
    void instanceOf(app).addHook(place, hook);

/** Who has something left to do when the handler has come to an end: to give the answer a header. */
const SOMEBODY: Record<string, () => Partial<CrudParts>> = {
  'a hook onRequest': () => ({ configure: hooked('onRequest') }),
  'a hook preParsing': () => ({ configure: hooked('preParsing', lateParsing) }),
  'a hook preValidation': () => ({ configure: hooked('preValidation') }),
  'a hook preHandler': () => ({ configure: hooked('preHandler') }),
  'a hook onRequest that was there before Nest': () => {
    const adapter = new FastifyAdapter();
    (adapter.getInstance() as unknown as Instance).addHook('onRequest', lateHook);
    return { adapter };
  },
  "a hook of Nest's": () => ({
    configure: (app) =>
      void (app.getHttpAdapter() as FastifyAdapter).setOnRequestHook(((_: unknown, reply: Reply, done: Done) => {
        done();
        reply.header('x-late', 'yes');
      }) as never),
  }),
  'a hook of the route': () => ({
    configure: hooked('onRoute', (options: { onRequest?: unknown }) => {
      options.onRequest = [lateHook];
    }),
  }),
  'a function around the handler': () => ({ configure: hooked('onRoute', lateAround) }),
  'a function around the handler that was there before Nest': () => {
    const adapter = new FastifyAdapter();
    (adapter.getInstance() as unknown as Instance).addHook('onRoute', lateAround);
    return { adapter };
  },
  'a middleware of the application': () => ({ configure: (app) => void app.use(lateMiddleware) }),
  "a middleware of Fastify's": () => ({ configure: (app) => void instanceOf(app).use(lateMiddleware) }),
  'a middleware bound by Nest': () => ({
    imports: [
      class LateModule {
        configure(consumer: MiddlewareConsumer): void {
          consumer.apply(lateMiddleware).forRoutes(LampsController);
        }
      },
    ],
  }),
  'a function around what tells of requests': () => ({
    configure: (app) => {
      const { server } = instanceOf(app);
      const { emit } = server;
      server.emit = function (this: unknown, name: string, ...args: unknown[]) {
        const heard: unknown = emit.call(this, name, ...args);
        if (name === 'request') late(args[1] as ServerResponse);
        return heard;
      };
    },
  }),
  'another one who hears of requests': () => ({
    configure: (app) => void instanceOf(app).server.on('request', (_request, response) => late(response)),
  }),
};

/** Of each request, whether it was answered when the handler came to its end. */
let atOnce: boolean[];
const END = 'tracing:fastify.request.handler:end';
const hear = (message: unknown): void => void atOnce.push((message as { reply: Reply }).reply.sent);
beforeAll(() => subscribe(END, hear));
afterAll(() => unsubscribe(END, hear));

async function everything({ get, post, put, del }: CrudService) {
  atOnce = [];
  return [
    await post('/api/lamps', { name: 'Arc' }),
    await get('/api/lamps/1'),
    await get('/api/lamps'),
    await put('/api/lamps/1', { name: 'Bow' }),
    await get('/api/lamps/7'),
    await put('/api/lamps/1', {}),
    await del('/api/lamps/1'),
  ];
}

const started = (database: DatabaseName, parts: Partial<CrudParts> = {}): Promise<CrudService> =>
  startCrud('fastify', { database, path: 'compiled', entities: [Lamp], resources: [LampsController], ...parts });

describe.each(DATABASES)('on %s a generated handler', (database) => {
  let expected: unknown;
  beforeAll(async () => {
    const service = await started(database, { path: 'repository' });
    expected = (await everything(service)).map(({ status, json }) => [status, { ...json, timestamp: '' }]);
    expect(atOnce).not.toContain(true);
    await service.close();
  });

  it.each<[string, () => Partial<CrudParts>]>([
    ['nobody', () => ({})],
    [
      'cors() alone',
      () => ({
        imports: [
          class CorsModule {
            configure(consumer: MiddlewareConsumer): void {
              consumer.apply(cors('https://shop.example')).forRoutes(...routesOf(LampsController));
            }
          },
        ],
      }),
    ],
    ['hooks behind the answer', () => ({ configure: hooked('onResponse') })],
  ])('answers at once before %s', async (_, parts) => {
    const service = await started(database, parts());
    const answers = await everything(service);
    expect(answers.map(({ status, json }) => [status, { ...json, timestamp: '' }])).toEqual(expected);
    expect(atOnce).toEqual(answers.map(() => database === 'sqlite'));
    await service.close();
  });

  it.each(Object.entries(SOMEBODY))('answers behind %s', async (_, parts) => {
    const service = await started(database, parts());
    const answers = await everything(service);
    expect(answers.map(({ status, json }) => [status, { ...json, timestamp: '' }])).toEqual(expected);
    expect(answers.map(({ headers }) => headers['x-late'])).toEqual(answers.map(() => 'yes'));
    expect(atOnce).not.toContain(true);
    await service.close();
  });

  it('waits for whoever has come to it in the meantime', async () => {
    const service = await started(database);
    await everything(service);
    instanceOf(service.app).server.on('request', (_request, response) => late(response));
    const answers = await everything(service);
    expect(answers.map(({ headers }) => headers['x-late'])).toEqual(answers.map(() => 'yes'));
    await service.close();
  });
});
