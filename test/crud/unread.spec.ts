import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { CallHandler, ExecutionContext, INestApplication, NestInterceptor, Provider } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { CrudController } from 'declarest';
import express from 'express';
import { map } from 'rxjs';
import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { textOf } from '../../lib/http/json-answer.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { type CrudParts, type CrudService, failure, startCrud } from './service.js';

enum Level {
  Low = 1,
  High = 2,
}

@Entity()
class Lamp {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ type: 'float', nullable: true })
  price!: number | null;

  @Column({ default: 0 })
  stock!: number;

  @Column({ type: 'integer', default: 0 })
  sold!: number;

  @Column({ default: true })
  active!: boolean;

  @Column({ type: 'simple-enum', enum: Level, default: Level.Low })
  level!: Level;

  @CreateDateColumn()
  createdAt!: Date;
}

/** Its class has the last word on its JSON. */
@Entity()
class Secretive {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  toJSON(): object {
    return { hidden: this.name.length };
  }
}

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('simple-json')
  info!: object;
}

class LampsController extends CrudController({ entity: Lamp, endpoint: '/lamps', enablePagination: true }) {}
class NotesController extends CrudController({ entity: Note, endpoint: '/notes', maxListSize: 10 }) {}
class SecretiveController extends CrudController({ entity: Secretive, endpoint: '/secretive', maxListSize: 10 }) {}

type Answer = { message: string; data: unknown; timestamp: string };
const withInterceptor = (change: (answer: Answer) => unknown): Provider[] => [
  {
    provide: APP_INTERCEPTOR,
    useValue: {
      intercept: (_: ExecutionContext, next: CallHandler<Answer>) => next.handle().pipe(map(change)),
    } satisfies NestInterceptor,
  },
];
const firstOf = (data: unknown): Lamp => [data].flat()[0] as Lamp;

const MODIFIED = 'Sat, 21 Nov 2026 10:00:00 GMT';
const LAMP = 'Desk "lamp" é';
const DESCRIPTORS = (answer: object): PropertyDescriptorMap => Object.getOwnPropertyDescriptors(answer);
const without = <T extends object>(answer: T, name: string): T => (Reflect.deleteProperty(answer, name), answer);
const dataOf = ({ data }: Answer): unknown => data;

/** What an interceptor may do to an answer, and what is then sent instead of the name and of `message`. */
const INTERCEPTORS: readonly [string, (answer: Answer) => unknown, (body: never) => unknown, unknown][] = [
  ['changes a record', ({ ...answer }) => ((firstOf(answer.data).name = 'changed'), answer), nameOf, 'changed'],
  ['changes a record in place', (answer) => ((firstOf(answer.data).name = 'changed'), answer), nameOf, 'changed'],
  ['gives other data', (answer) => ((answer.data = { name: 'other' }), answer), nameOf, 'other'],
  ['copies the answer', (answer) => ({ ...answer, copied: 1 }), (body: object) => 'copied' in body, true],
  ['adds to the answer', (answer) => Object.assign(answer, { added: 1 }), (body: object) => 'added' in body, true],
  ['takes from the answer', (answer) => (Reflect.deleteProperty(answer, 'data'), answer), nameOf, undefined],
  ['changes the message', (answer) => ((answer.message = 'new'), answer), ({ message }: Answer) => message, 'new'],
  ['freezes the answer', (answer) => Object.freeze(answer), nameOf, LAMP],
  ['freezes the answer and looks', (answer) => Object.freeze(answer).data && answer, nameOf, LAMP],
  [
    'puts other data in its place',
    (answer) => Object.assign(without(answer, 'data'), { data: 'masked' }),
    dataOf,
    'masked',
  ],
  [
    'defines other data',
    (answer) => Object.defineProperty(answer, 'data', { value: 'masked', enumerable: true }),
    dataOf,
    'masked',
  ],
  [
    'masks the data by a proxy',
    (answer) => new Proxy(answer, { get: (target, name) => (name === 'data' ? 'masked' : Reflect.get(target, name)) }),
    dataOf,
    'masked',
  ],
  ['says how to write it', (answer) => Object.assign(answer, { toJSON: () => ({ data: 'own' }) }), dataOf, 'own'],
  [
    'says how to write a part',
    (answer) => Object.assign(answer, { message: { toJSON: (name: string) => `my ${name}` } }),
    ({ message }: Answer) => message,
    'my message',
  ],
  ['clones the answer', (answer) => Object.assign(Object.create(Object.getPrototypeOf(answer)), answer), nameOf, LAMP],
  ['clones its properties', (answer) => Object.defineProperties({}, DESCRIPTORS(answer)), nameOf, LAMP],
  ['makes an heir', (answer) => Object.create(answer), (body: object) => body, {}],
  ['takes everything', (answer) => Object.keys(answer).reduce(without, answer), (body: object) => body, {}],
  ['answers with the data alone', ({ data }) => ({ data }), nameOf, LAMP],
  ['answers through a proxy', (answer) => new Proxy(answer, {}), nameOf, LAMP],
];
const TEXTS = ['', 'a "b"\n', '\ud83d\ude00', '\ud83d', '5', '-0', '007', '1e3', 'true', 'null', '[1]', '{"a":1}'];
const NUMBERS = [0, -1, 1.5, -2e-7, 1e21, 9_007_199_254_740_991, 9_007_199_254_740_993n, 2n ** 62n];
const DAYS = [
  '2026-02-28',
  '2024-02-29',
  '2023-02-29',
  '2026-04-30',
  '2026-04-31',
  '2026-13-01',
  '2026-00-01',
  '0000-01-01',
];
const TIMES = ['24:00:00', '23:59:60', '23:60:00', '10:00', '10:00:00.1', '10:00:00.123', '10:00:00.1234', '10:00:00Z'];
const MOMENTS = [
  ...DAYS.flatMap((day) => [day, `${day} 10:00:00`, `${day}T10:00:00Z`, ` ${day} 10:00:00`, `1${day} 10:00:00`]),
  ...TIMES.flatMap((time) => [`2026-01-31 ${time}`, `2026-01-31 ${time}+02:00`, `2026-01-31 ${time} `]),
];
/** By column. */
const STORED = {
  name: [...TEXTS, ...NUMBERS, Buffer.from('bytes')],
  price: [null, ...TEXTS, ...NUMBERS],
  stock: [...TEXTS, ...NUMBERS],
  sold: [...TEXTS, ...NUMBERS],
  level: ['1', '2'],
  active: [0, 1, 2, -1, 1.5, ...TEXTS],
  createdAt: [...MOMENTS, ...TEXTS, ...NUMBERS],
};

function nameOf({ data }: { data?: unknown }): unknown {
  return data === undefined ? undefined : firstOf(data).name;
}

describe.each(PLATFORMS)('[4.2] records that nobody has looked at on %s', (platform) => {
  let service: CrudService;
  const start = async (parts: CrudParts = {}): Promise<CrudService> => {
    service = await startCrud(platform, {
      entities: [Lamp, Secretive, Note],
      path: 'compiled',
      imports: [],
      controllers: [LampsController, SecretiveController, NotesController],
      ...parts,
    });
    await service.dataSource.getRepository(Lamp).save({ name: 'Desk "lamp" é', price: 1.5 });
    return service;
  };
  afterEach(() => service.close());

  it('are as objects to whoever asks, and as JSON to the byte what the objects are', async () => {
    await start();
    const controller = service.app.get(LampsController);
    for (const ask of [() => controller.findById('1'), () => controller.findAll({} as never)]) {
      const text = textOf(await ask());
      expect(typeof text).toBe('string');
      const answer = await ask();
      expect(Object.keys(answer).slice(0, 4)).toEqual(['success', 'message', 'data', 'timestamp']);
      expect(inspect(answer)).toContain("name: 'Desk");
      const untimed = (json: string | undefined): unknown => json?.replace(/"timestamp":"[^"]*"/, '');
      expect(untimed(JSON.stringify(answer))).toBe(untimed(text));
      expect(firstOf(answer.data)).toBeInstanceOf(Lamp);
      expect(firstOf(answer.data).createdAt).toBeInstanceOf(Date);
      expect(answer.data).toBe(answer.data);
      expect(Object.getPrototypeOf(answer)).toBe(Object.prototype);
      // Whoever has looked may have changed it.
      expect(textOf(answer)).toBeUndefined();
    }
  });

  it('are that whatever stands in the table', async () => {
    await start();
    const controller = service.app.get(LampsController);
    // SQLite takes any value in any column.
    for (const [column, values] of Object.entries(STORED))
      for (const value of values) {
        await service.dataSource.query(`UPDATE lamp SET "${column}" = ?`, [value]);
        const answer = await controller.findById('1');
        const text = textOf(answer);
        expect([column, value, text]).toEqual([column, value, JSON.stringify(answer)]);
      }
  });

  it.each(INTERCEPTORS)('an interceptor that %s is heard', async (_, change, seen, expected) => {
    await start({ providers: withInterceptor(change) });
    for (const path of ['/lamps/1', '/lamps?page=1&size=5'])
      expect(seen((await service.get(path)).json as never)).toEqual(expected);
    const updated = await service.put('/lamps/1', { name: 'Desk "lamp" é', price: 2 });
    expect(seen(updated.json as never)).toEqual(expected);
  });

  it('fail where the filters of the application hear of it', async () => {
    await start();
    await service.post('/notes', { info: { a: 1 } });
    await service.dataSource.query(`UPDATE note SET info = '{broken'`);
    for (const path of ['/notes', '/notes/1']) {
      const { status, json } = await service.get(path);
      expect([status, json]).toEqual([500, failure('Internal server error')]);
    }
  });

  it('the class of an entity writes itself', async () => {
    await start();
    const created = await service.post('/secretive', { name: 'four' });
    expect([created.json.data, created.headers['location']]).toEqual([{ hidden: 4 }, '/secretive/1']);
    expect((await service.get('/secretive')).json.data).toEqual([{ hidden: 4 }]);
  });

  it('are sent with the same headers, asked for with GET and with HEAD', async () => {
    await start();
    const plain = await start({ providers: withInterceptor((answer) => ({ ...answer })) });
    const { headers, text } = await plain.get('/lamps/1');
    await plain.close();
    await start();
    const sent = await service.get('/lamps/1');
    const head = await service.send('HEAD', '/lamps/1');
    const named = ({ date: _date, etag, ...others }: Record<string, string>): object => ({ ...others, etag: !!etag });
    expect(named(sent.headers)).toEqual(named(headers));
    expect(named(head.headers)).toEqual(named(headers));
    expect([head.text, sent.text.length]).toEqual(['', text.length]);
  });
});

/** What the tests call of Express and of Fastify. */
interface Framework {
  readonly settings: { readonly 'etag fn': (body: Buffer) => string };
  set(name: string, value: unknown): void;
  addHook(name: string, hook: (...args: never[]) => unknown): void;
  setReplySerializer(serialize: (body: object) => string): void;
}
interface Reply {
  send(body: unknown): unknown;
  header(name: string, value: string): unknown;
  serializer(serialize: (body: object) => string): void;
}

describe('[4.2] what else writes JSON is asked as ever', () => {
  let service: CrudService;
  const start = async (
    platform: 'express' | 'fastify',
    configure: (app: INestApplication) => void,
    parts: CrudParts = {},
  ): Promise<CrudService> => {
    service = await startCrud(platform, {
      entities: [Lamp],
      path: 'compiled',
      controllers: [LampsController],
      configure,
      ...parts,
    });
    await service.dataSource.getRepository(Lamp).save({ name: 'Desk', price: 1.5 });
    return service;
  };
  afterEach(() => service.close());
  const instanceOf = (app: INestApplication): Framework => app.getHttpAdapter().getInstance() as Framework;

  it.each([
    ['json spaces', 2, '{\n  "success": true'],
    ['json replacer', (_: string, value: unknown) => (value === 'Desk' ? 'replaced' : value), '"name":"replaced"'],
    ['json escape', true, '"message":"Lamp found"'],
  ])('the setting "%s" of Express', async (name, value, expected) => {
    await start('express', (app) => void instanceOf(app).set(name, value));
    expect((await service.get('/lamps/1')).text).toContain(expected);
  });

  it('a middleware on Express that puts its own `json` before the one of the response', async () => {
    const seen: unknown[] = [];
    await start('express', (app) => {
      app.use((_request: unknown, response: { json(body: unknown): unknown }, next: () => void) => {
        const json = response.json.bind(response);
        response.json = (body) => (seen.push((body as { data: Lamp }).data.name), json(body));
        next();
      });
    });
    expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
    expect(seen).toEqual(['Desk']);
  });

  it.each(['json', 'send'])(
    'a tool that has put its own `%s` before the one of Express before the boot',
    async (name) => {
      const application = express();
      const seen: string[] = [];
      const { response } = application as unknown as { response: Record<string, (body: unknown) => unknown> };
      const original = response[name]!;
      response[name] = function (body) {
        seen.push(typeof body === 'string' ? (JSON.parse(body) as { message: string }).message : 'object');
        return original.call(this, body);
      };
      await start('express', () => {}, { adapter: new ExpressAdapter(application) });
      expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
      expect((await service.del('/lamps/1')).status).toBe(200);
      expect(seen).toEqual(name === 'json' ? ['object', 'object'] : ['Lamp found', 'Lamp deleted']);
    },
  );

  it('a middleware on Express that puts its own `send` before the one of the response', async () => {
    const seen: unknown[] = [];
    await start('express', (app) => {
      app.use((_request: unknown, response: { send(body: unknown): unknown }, next: () => void) => {
        const send = response.send.bind(response);
        response.send = (body) => (seen.push(typeof body), send(body));
        next();
      });
    });
    expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
    expect(seen).toEqual(['string']);
  });

  it('a middleware on Express that puts its own `end` before the one of the response, and takes buffers', async () => {
    const bodies: string[] = [];
    await start('express', (app) => {
      app.use((_request: unknown, response: { end(chunk?: Buffer): unknown }, next: () => void) => {
        const { end } = response;
        response.end = function (chunk) {
          bodies.push(Buffer.concat(chunk ? [chunk] : []).toString());
          return Reflect.apply(end, this, [chunk]);
        };
        next();
      });
    });
    expect([(await service.get('/lamps/1')).text]).toEqual(bodies);
  });

  it('a middleware on Express that puts its own `set` before the one of the response', async () => {
    await start('express', (app) => {
      app.use((_request: unknown, response: { set(name: string, value: string): unknown }, next: () => void) => {
        const set = response.set.bind(response);
        response.set = (name, value) =>
          set(name, name === 'Content-Type' ? value.replace('n/json', 'n/vnd.own+json') : value);
        next();
      });
    });
    expect((await service.get('/lamps/1')).headers['content-type']).toBe('application/vnd.own+json; charset=utf-8');
  });

  it('the headers on Express that somebody has set already, and those that were asked for', async () => {
    await start('express', (app) => {
      app.use((request: { url: string }, response: ServerResponse, next: () => void) => {
        if (request.url.includes('etag')) response.setHeader('ETag', '"fixed"');
        if (request.url.includes('modified')) response.setHeader('Last-Modified', MODIFIED);
        if (request.url.includes('type')) response.setHeader('Content-Type', 'application/vnd.api+json');
        next();
      });
    });
    const known = { 'if-none-match': '"fixed"' };
    const unchanged = await service.send('GET', '/lamps/1?etag', { headers: known });
    expect([unchanged.status, unchanged.text, unchanged.headers['etag']]).toEqual([304, '', '"fixed"']);
    expect((await service.get('/lamps/1?etag')).headers['etag']).toBe('"fixed"');
    expect((await service.get('/lamps/1?type')).headers['content-type']).toContain('application/vnd.api+json');
    const since = { 'if-modified-since': MODIFIED };
    expect((await service.send('GET', '/lamps/1?modified', { headers: since })).status).toBe(304);
    const own = await service.get('/lamps/1');
    expect(own.headers['etag']).toMatch(/^W\/"/);
    expect(own.headers['content-length']).toBe(String(Buffer.byteLength(own.text)));
    instanceOf(service.app).set('etag', false);
    expect((await service.get('/lamps/1')).headers['etag']).toBeUndefined();
    await service.put('/lamps/1', { name: LAMP });
    for (const setting of ['weak', true, 'strong']) {
      instanceOf(service.app).set('etag', setting);
      const { headers, text } = await service.get('/lamps/1');
      expect(headers['etag']).toBe(instanceOf(service.app).settings['etag fn'](Buffer.from(text)));
    }
    instanceOf(service.app).set('etag', (body: Buffer) => `"${body.toString('hex').length}"`);
    const { headers, text } = await service.get('/lamps/1');
    expect(headers['etag']).toBe(`"${2 * Buffer.byteLength(text)}"`);
    expect((await service.send('HEAD', '/lamps/1')).headers['etag']).toBe(headers['etag']);
    for (const tag of [headers['etag'] ?? '', '*'])
      expect(await service.send('GET', '/lamps/1', { headers: { 'if-none-match': tag } })).toMatchObject({
        status: 304,
        text: '',
      });
  });

  it('a server on Express that takes no body for HEAD', async () => {
    await start('express', () => {});
    const strict = createServer({ rejectNonStandardBodyWrites: true } as object, instanceOf(service.app) as never);
    await new Promise<void>((resolve) => strict.listen(0, '127.0.0.1', resolve));
    const { port } = strict.address() as AddressInfo;
    expect((await fetch(`http://127.0.0.1:${port}/lamps/1`, { method: 'HEAD' })).status).toBe(200);
    expect(linesOf(service.logs, 'error')).toEqual([]);
    strict.closeAllConnections();
    strict.close();
  });

  it.each([
    [
      'a preSerialization hook',
      (instance: Framework) =>
        instance.addHook('preSerialization', async (_request: unknown, _reply: unknown, body: object) => ({
          ...body,
          hooked: 1,
        })),
      '"hooked":1',
    ],
    [
      'setReplySerializer',
      (instance: Framework) => instance.setReplySerializer((body: object) => JSON.stringify({ wrapped: body })),
      '{"wrapped":{"success":true',
    ],
    [
      'reply.serializer',
      (instance: Framework) =>
        instance.addHook('preHandler', async (_: unknown, reply: Reply) => {
          reply.serializer((body: object) => JSON.stringify({ own: body }));
        }),
      '{"own":{"success":true',
    ],
  ])('%s of Fastify', async (_, configure, expected) => {
    await start('fastify', (app) => void configure(instanceOf(app)));
    expect((await service.get('/lamps/1')).text).toContain(expected);
  });

  it('a hook on Fastify that puts its own `send` before the one of the reply', async () => {
    const seen: unknown[] = [];
    await start('fastify', (app) => {
      instanceOf(app).addHook('onRequest', async (_: unknown, reply: Reply) => {
        const send = reply.send.bind(reply);
        reply.send = (body) => (seen.push((body as { data: Lamp }).data.name), send(body));
      });
    });
    expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
    expect(seen).toEqual(['Desk']);
  });

  it('a type on Fastify that somebody has set already', async () => {
    await start('fastify', (app) => {
      instanceOf(app).addHook('onRequest', async (_: unknown, reply: Reply) => {
        reply.header('content-type', 'application/vnd.api+json');
      });
    });
    const { headers, json } = await service.get('/lamps/1');
    expect([headers['content-type'], json.data.name]).toEqual(['application/vnd.api+json; charset=utf-8', 'Desk']);
  });

  describe.each(PLATFORMS)('an adapter on %s', (platform) => {
    type Body = { data?: Lamp };
    const seen: unknown[] = [];
    const noted = (body: unknown): unknown => (seen.push((body as Body).data?.name), body);
    beforeEach(() => void seen.splice(0));

    it('whose class answers in its own way', async () => {
      const adapter =
        platform === 'express'
          ? new (class extends ExpressAdapter {
              override reply(...args: Parameters<ExpressAdapter['reply']>): unknown {
                noted(args[1]);
                return super.reply(...args);
              }
            })()
          : new (class extends FastifyAdapter {
              override reply(...args: Parameters<FastifyAdapter['reply']>): ReturnType<FastifyAdapter['reply']> {
                noted(args[1]);
                return super.reply(...args);
              }
            })();
      await start(platform, () => {}, { adapter });
      expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
      expect(seen).toEqual(['Desk']);
    });

    /** @returns what undoes it */
    const teach = (): (() => void) => {
      const { prototype } = platform === 'express' ? ExpressAdapter : FastifyAdapter;
      const { reply } = prototype;
      prototype.reply = function (this: never, ...args: unknown[]) {
        noted(args[1]);
        return Reflect.apply(reply, this, args) as never;
      };
      return () => void (prototype.reply = reply);
    };

    it('whose class a tool has taught to answer in another way', async () => {
      const forget = teach();
      try {
        await start(platform, () => {});
        expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
        expect(seen).toEqual(['Desk']);
      } finally {
        forget();
      }
    });

    it('whose class a tool teaches to answer in another way when it is up', async () => {
      await start(platform, () => {});
      for (let round = 0; round < 2; round += 1) expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
      const forget = teach();
      try {
        expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
        expect(seen).toEqual(['Desk']);
      } finally {
        forget();
      }
    });

    it('that answers by node’s own response', async () => {
      await start(platform, (app) => {
        const answer = async (response: object): Promise<unknown> =>
          app.getHttpAdapter().reply(response, await app.get(LampsController).findById('1'), 200) as unknown;
        app.use((request: { url?: string }, response: object, next: (error?: unknown) => void) => {
          if (request.url === '/nowhere') answer(response).catch(next);
          else next();
        });
      });
      expect((await service.get('/nowhere')).json.data.name).toBe('Desk');
    });

    it('that somebody has taught to answer in another way', async () => {
      await start(platform, () => {});
      const adapter = service.app.getHttpAdapter();
      const reply = adapter.reply.bind(adapter) as (...args: unknown[]) => unknown;
      adapter.reply = (response: unknown, body: unknown, status?: number) => reply(response, noted(body), status);
      expect((await service.get('/lamps/1')).json.data.name).toBe('Desk');
      expect(seen).toEqual(['Desk']);
    });
  });

  it.each(['before', 'after'])('a response schema that somebody gives to the route on Fastify, %s', async (when) => {
    const hook = (options: { url: string; schema?: object; serializerCompiler?: unknown }): void => {
      if (options.url !== '/lamps/:id') return;
      options.schema = { response: { 200: { type: 'object', properties: { message: { type: 'string' } } } } };
      delete options.serializerCompiler;
    };
    const adapter = new FastifyAdapter();
    const add = (): unknown => adapter.getInstance().addHook('onRoute', hook);
    if (when === 'before') add();
    await start('fastify', () => void (when === 'after' && add()), { adapter });
    expect((await service.get('/lamps/1')).json).toEqual({ message: 'Lamp found' });
  });
});
