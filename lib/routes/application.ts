import type { Type } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer, type ModuleRef } from '@nestjs/core';
import { notify, type FailureAnswer } from '../http/failure.js';
import type { HttpRequest } from '../http/http-request.js';
import { InvalidOptionError, isClass } from '../options/invalid-option.js';
import { sendFailure } from '../problem-details/problem-details.js';
import { ExpressRoutes } from './express-routes.js';
import { FastifyRoutes } from './fastify-routes.js';
import type { HttpAdapter, RouteTable } from './route-table.js';

/** The access rules, where the application has them. */
export abstract class AppliedRules {
  /** The option `strict`: some warnings are refusals. */
  abstract readonly isStrict: boolean;
}

export class Application {
  private readonly results = new Map<unknown, unknown>();
  private readonly states = new Map<unknown, unknown>();
  private adapterOfResults: HttpAdapter | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    readonly modules: ModulesContainer,
    readonly config: ApplicationConfig,
  ) {}

  /** `undefined` in a microservice or an application context, and under @nestjs/testing before the application is created. */
  get adapter(): HttpAdapter | undefined {
    return this.host.httpAdapter as HttpAdapter | undefined;
  }

  /** Whether access rules are applied. */
  get isGuarded(): boolean {
    return this.providerOf(AppliedRules) !== undefined;
  }

  get isStrict(): boolean {
    return this.providerOf(AppliedRules)?.isStrict === true;
  }

  beginRouting(): void {
    this.routeTable.beginRouting(this.modules);
  }

  /** The first use must come before Fastify gets its routes: it reports only those that are added afterwards. */
  get routeTable(): RouteTable {
    return this.once(createRouteTable);
  }

  /** Calls a function once for each adapter, and returns its result. A second `compile()` in a test has a second adapter. */
  once<T, A extends unknown[]>(make: (application: Application, ...args: A) => T, ...args: A): T {
    const { adapter } = this;
    if (this.adapterOfResults !== adapter) this.results.clear();
    this.adapterOfResults = adapter;
    if (!this.results.has(make)) this.results.set(make, make(this, ...args));
    return this.results.get(make) as T;
  }

  stateOf<T, A extends unknown[]>(State: new (...args: A) => T, ...args: A): T {
    const state = (this.states.get(State) as T | undefined) ?? new State(...args);
    this.states.set(State, state);
    return state;
  }

  /** The singleton providers of all modules that extend a class. @throws InvalidOptionError for one that is no singleton */
  singletonsOf<T>(base: abstract new (...args: never[]) => T): Set<T> {
    const found = new Set<T>();
    const isOfBase = (value: unknown): boolean =>
      value instanceof base || (isClass(value) && value.prototype instanceof base);
    for (const wrapper of [...this.modules.values()].flatMap(({ providers }) => [...providers.values()])) {
      const instance: unknown = wrapper.instance;
      // A factory with a scope has no instance yet: its token names the class.
      const declared = [instance, wrapper.metatype, wrapper.token].find(isOfBase);
      if (declared && (!wrapper.isDependencyTreeStatic() || wrapper.isTransient)) {
        const advice = 'Remove its scope and the request-scoped providers that it injects';
        throw new InvalidOptionError(wrapper.name, 'a singleton provider', 'a request-scoped or transient one', advice);
      }
      if (instance instanceof base) found.add(instance);
    }
    return found;
  }

  /** `undefined` where no module has it. `app.get()` may end the process then. */
  providerOf<T>(type: abstract new (...args: never[]) => T): T | undefined {
    const found = [...this.modules.values()].map(({ providers }) => providers.get(type as Type)?.instance as unknown);
    return found.find(Boolean) as T | undefined;
  }

  /** @throws InvalidOptionError with the option `strict`, if anything is doubtful */
  refuseDoubts(doubts: readonly string[]): void {
    if (this.isStrict && doubts.length > 0)
      throw InvalidOptionError.withMessage(`${doubts.join(' ')} The option \`strict\` refuses this.`);
  }

  /** Answers a request in the place of its handler. */
  answer(request: HttpRequest, response: unknown, failure: FailureAnswer | Promise<FailureAnswer>): void {
    if (failure instanceof Promise)
      // Nobody waits for an exception filter.
      void notify('Sending a failure', async () => this.answer(request, response, await failure));
    else if (this.adapter) sendFailure(this.adapter, request, response, failure);
  }

  /** Calls back now, or when the adapter is created; never in an application without HTTP. */
  whenAdapterIsReady(use: (adapter: HttpAdapter, routes: RouteTable) => void): void {
    if (this.adapter) use(this.adapter, this.routeTable);
    else this.host.init$.subscribe(() => this.adapter && use(this.adapter, this.routeTable));
  }
}

const applications = new WeakMap<HttpAdapterHost, Application>();

export function applicationOf(injector: Pick<ModuleRef, 'get'>): Application {
  const find = <T>(type: abstract new (...args: never[]) => T): T => injector.get<T>(type as never, { strict: false });
  const host = find(HttpAdapterHost);
  const application = applications.get(host) ?? new Application(host, find(ModulesContainer), find(ApplicationConfig));
  applications.set(host, application);
  return application;
}

const NO_ROUTER = { router: { stack: [] } };

function createRouteTable({ adapter, config }: Application): RouteTable {
  if (adapter?.getType() === 'fastify') return new FastifyRoutes(adapter.getInstance());
  return new ExpressRoutes(adapter?.getInstance() ?? NO_ROUTER, config);
}
