/** Middleware that a module binds with `consumer.apply(…).forRoutes(…)`, and that answers requests itself. */
import { Injectable, type MiddlewareConsumer, Module, type NestMiddleware, RequestMethod } from '@nestjs/common';
import { request } from '../harness/client.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { type Declare, type RuledApp, startRuled, TOKENS } from './ruled-app.js';

type Raw = { setHeader(name: string, value: string): unknown; end(text: string): unknown };
type Next = () => void;
type Bind = (consumer: MiddlewareConsumer) => unknown;

const answer = (_request: unknown, response: Raw): void => void response.end('the dashboard');
const pass = (_request: unknown, _response: unknown, next: Next): void => next();
@Injectable()
class Dashboard implements NestMiddleware {
  use(_request: unknown, response: Raw): void {
    answer(_request, response);
  }
}

/** The rule also covers a route of a controller, so that it does not decide on every path below it. */
const admins: Declare = ({ requireRole }) => requireRole('ADMIN', '/admin/**');

function moduleOf(bind: Bind) {
  @Module({})
  class Queues {
    configure(consumer: MiddlewareConsumer): void {
      bind(consumer);
    }
  }
  return Queues;
}

const start = (platform: Platform, bind: Bind, rules = admins, routes = ['GET admin/report', 'GET open']) =>
  startRuled(platform, { routes, rules, imports: [moduleOf(bind)] });

const statuses = async ({ url }: RuledApp, path: string, method = 'GET') => {
  const answers = await Promise.all(
    [undefined, TOKENS.USER, TOKENS.ADMIN].map((token) => request(url, method, path, token ? { token } : {})),
  );
  return answers.map(({ status }) => status);
};

const BOUND: Record<string, Bind> = {
  'a function': (consumer) => consumer.apply(answer).forRoutes('/admin/queues'),
  'a class': (consumer) => consumer.apply(Dashboard).forRoutes('admin/queues'),
  'several functions': (consumer) => consumer.apply(pass, answer).forRoutes('/admin/queues'),
  'everything below a path': (consumer) => consumer.apply(answer).forRoutes('/admin/queues{/*path}'),
  'one method': (consumer) => consumer.apply(answer).forRoutes({ path: '/admin/queues', method: RequestMethod.GET }),
};

describe.each(PLATFORMS)('a middleware of a module that answers itself, on %s', (platform) => {
  it.each(Object.entries(BOUND))('[3.6] is governed by a rule that also covers a controller: %s', async (_, bind) => {
    const app = await start(platform, bind);
    const refused = platform === 'express' ? [401, 403] : [404, 404];
    expect(await statuses(app, '/admin/queues')).toEqual([...refused, 200]);
    expect(await statuses(app, '/admin/report')).toEqual([401, 403, 200]);
    expect(await statuses(app, '/admin/nowhere')).toEqual([404, 404, 404]);
    await app.close();
  });

  it('[3.6] is reached where a narrower rule opens it, and where no rule matches', async () => {
    const app = await start(
      platform,
      (consumer) => consumer.apply(answer).forRoutes('/admin/status', '/elsewhere'),
      (rules) => {
        admins(rules);
        rules.publicEndpoints('/admin/status/**');
      },
    );
    expect(await statuses(app, '/admin/status')).toEqual([200, 200, 200]);
    expect(await statuses(app, '/elsewhere')).toEqual([200, 200, 200]);
    await app.close();
  });

  it('[3.6] runs for everybody where it is bound above a route, and passes requests on', async () => {
    const passed: string[] = [];
    const record = (request: { originalUrl: string }, _response: unknown, next: Next): void => {
      passed.push(request.originalUrl);
      next();
    };
    const app = await start(platform, (consumer) => consumer.apply(record).forRoutes('/admin/*path', '/open'));
    expect(await statuses(app, '/admin/report')).toEqual([401, 403, 200]);
    expect(await statuses(app, '/open')).toEqual([401, 200, 200]);
    expect(passed.toSorted()).toEqual([...Array(3).fill('/admin/report'), ...Array(3).fill('/open')]);
    await app.close();
  });

  it('[3.6] answers what the application answers to an unknown path, where it is not known', async () => {
    const [bound, unknown] = await Promise.all([
      start(platform, BOUND['a function'] as Bind),
      start(platform, () => undefined),
    ]);
    const { status, text, headers } = await request(bound.url, 'GET', '/admin/queues');
    const nowhere = await request(unknown.url, 'GET', '/admin/queues');
    if (platform === 'express') expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
    else expect([status, text]).toEqual([nowhere.status, nowhere.text]);
    await Promise.all([bound.close(), unknown.close()]);
  });
});
