/** Applications whose decisions are explained, and then observed. */
import { type INestApplication, Injectable } from '@nestjs/common';
import { type AuthOptions, SecurityConfig } from 'declarest';
import { AccessRules } from '../../../lib/access/access-rules.js';
import { describeExplanation, explain, type Explanation } from '../../../lib/reach/explain.js';
import { type Platform, startApp } from '../../harness/platforms.js';
import { rawTarget } from '../../harness/raw-socket.js';
import { claims, makeToken } from '../../harness/tokens.js';
import { authModule, bearer, type Entry, probeController } from '../../access/ruled-app.js';

/** All that a configuration may declare. */
export class Declarations extends SecurityConfig {
  constructor(private readonly declaring: (rules: Declarations) => void) {
    super();
  }
  configure(): void {
    this.declaring(this);
  }
  public = (...patterns: string[]): void => this.publicEndpoints(...patterns);
  auth = (...patterns: string[]): void => this.requireAuth(...patterns);
  role = (role: string | string[], ...patterns: string[]): void => this.requireRole(role, ...patterns);
  all = (roles: string[], ...patterns: string[]): void => this.requireAllRoles(roles, ...patterns);
  deny = (...patterns: string[]): void => this.denyAll(...patterns);
  policy = (...args: Parameters<SecurityConfig['requirePolicy']>): void => this.requirePolicy(...args);
}

export interface App {
  app: INestApplication;
  port: number;
  entered: Entry[];
  close: () => Promise<void>;
}

export interface Parts {
  routes: string[];
  declare?: (rules: Declarations) => void;
  auth?: Partial<AuthOptions>;
  /** By index of the route. */
  decorate?: (handler: number) => MethodDecorator | undefined;
  outside?: string[];
}

export async function start(
  platform: Platform,
  { routes, declare, auth, decorate, outside = [] }: Parts,
): Promise<App> {
  const entered: Entry[] = [];
  const Probe = probeController(entered, ...routes);
  for (const index of routes.keys()) {
    const name = `handler${index}`;
    decorate?.(index)?.(Probe.prototype, name, Object.getOwnPropertyDescriptor(Probe.prototype, name)!);
  }
  @Injectable()
  class ShopSecurity extends Declarations {
    constructor() {
      super(declare ?? (() => {}));
    }
  }
  const running = await startApp(
    platform,
    {
      imports: [authModule({ explainRefusals: true, ...auth })],
      controllers: [Probe],
      providers: declare ? [ShopSecurity] : [],
    },
    {
      configure: (app) => {
        const adapter = app.getHttpAdapter();
        for (const path of outside)
          adapter.get(path, (_request: unknown, response: unknown) => {
            entered.push({ route: `GET ${path}`, params: {}, id: undefined });
            adapter.reply(response, 'outside', 200);
          });
      },
    },
  );
  return { app: running.app, port: running.port, entered, close: running.close };
}

export function ask({ app }: App, method: string, path: string, roles?: string[]): Explanation {
  return explain(app.get(AccessRules, { strict: false }).compiled!, {
    method,
    path,
    roles,
  });
}

export const describeAnswer = (...args: Parameters<typeof ask>): string[] =>
  describeExplanation(ask(...args)).split('\n');

/** Sends the request: the status, the handlers that ran, and the rule in `X-Access-Rule`. */
export async function observe({ port, entered }: App, method: string, path: string, roles?: string[]) {
  entered.length = 0;
  const token = roles && makeToken({ payload: claims({ roles }) });
  const { status, headers } = await rawTarget(port, path, { method, headers: bearer(token) });
  const rule = headers['x-access-rule'];
  return { status, entered: [...entered], rule: rule === undefined ? undefined : decodeURI(rule) };
}
