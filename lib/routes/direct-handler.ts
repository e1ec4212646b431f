/**
 * Handlers of the package's own, run without what Nest runs around every handler: contexts, lists and promises for the
 * guards, pipes, interceptors and filters that an application may have. Where it has any, Nest's own handler is run.
 */
import { RequestMethod, type ExceptionFilter, type Type } from '@nestjs/common';
import type { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { declaredRoute, type HandlerCall } from './declared-route.js';
import { compileCall, plainHandler } from './direct-call.js';
import type { Front } from '../front/front.js';
import { isLater } from '../http/at-once.js';
import type { FailureAnswer } from '../http/failure.js';
import { textWriter } from '../http/json-answer.js';
import type { HttpRequest } from '../http/request-facts.js';
import { isDirect, type DirectGuard } from './direct-guard.js';
import { saidOfClass, saidOfMethod } from './handler-surroundings.js';
import type { AnyFunction } from './observed-method.js';

interface Application {
  readonly host: HttpAdapterHost;
  readonly modules: ModulesContainer;
  readonly config: ApplicationConfig;
}

/** What the package has put around the handlers. */
export interface OwnClasses {
  readonly guards: readonly DirectGuard[];
  /** It catches everything. */
  readonly filter: Type<ExceptionFilter & { answerTo(exception: unknown): FailureAnswer }>;
}

type Controller = InstanceWrapper<Record<string, AnyFunction>>;

interface Decided {
  readonly run: AnyFunction;
  /** Why Nest runs it; `undefined` where the package does. */
  readonly reason: string | undefined;
}

/** Whether nobody has anything left to do behind a handler, who may still give the answer a header. */
type IsAlone = (response: unknown) => boolean;

/**
 * A route of the package's own. What it runs is decided when it is first asked, which of 500 resources' 2,500 routes most
 * are much later.
 */
export class DirectRoute implements ProxyHandler<AnyFunction> {
  /** What the router is to call. Of all else that it is asked for (metadata, version, name), Nest's tells. */
  readonly run: AnyFunction;
  private decision?: Decided;

  constructor(
    private readonly handlers: DirectHandlers,
    readonly nests: AnyFunction,
    readonly call: HandlerCall,
    readonly isAlone: IsAlone,
  ) {
    // To make a function with Nest's as its prototype takes V8 a while, 2,500 times.
    this.run = new Proxy(nests, this);
  }

  apply(_nests: AnyFunction, _this: unknown, [request, response, next]: unknown[]): unknown {
    return this.decided.run(request, response, next);
  }

  /** Along which metadata is found. */
  getPrototypeOf(nests: AnyFunction): object {
    return nests;
  }

  /** Why Nest runs it; `undefined` where the package does. */
  get reason(): string | undefined {
    return this.decided.reason;
  }

  private get decided(): Decided {
    return (this.decision ??= this.handlers.decide(this));
  }
}

export class DirectHandlers {
  /** By Express's or Fastify's instance: of two applications on one, a handler does not tell whose it is. */
  private static readonly byInstance = new WeakMap<object, DirectHandlers[]>();

  /** @returns `undefined` for a handler that is not the package's from end to end */
  static routeOf(instance: object, nests: AnyFunction, isAlone: IsAlone): DirectRoute | undefined {
    const known = DirectHandlers.byInstance.get(instance);
    const [direct] = known ?? [];
    const call = known?.length === 1 ? declaredRoute(nests)?.call : undefined;
    if (!direct || !call) return undefined;
    const route = new DirectRoute(direct, nests, call, isAlone);
    direct.routes.push(route);
    return route;
  }

  /** By the name of the method, then by what is said of its call. */
  private readonly byCall = new Map<string, Map<HandlerCall, Controller[]>>();
  private readonly routes: DirectRoute[] = [];
  private readonly saidOfClass = new Map<Controller, string | undefined>();
  front: Front | undefined;
  private writesText: ReturnType<typeof textWriter> | undefined;

  constructor(
    private readonly application: Application,
    private readonly own: OwnClasses,
  ) {}

  /** To be called before any route exists. @param front what requests may be brought by, past the platform */
  useOn(instance: object, front: Front): void {
    this.front = front;
    DirectHandlers.byInstance.set(instance, [...(DirectHandlers.byInstance.get(instance) ?? []), this]);
  }

  /** Of the handlers that Nest runs, by their names. */
  get reasons(): ReadonlyMap<string, string> {
    return new Map(
      this.routes.flatMap(({ call, reason }): (readonly [string, string])[] => {
        const names = this.controllersWith(call).map(({ name }) => `${String(name)}.${call.name}`);
        return reason === undefined ? [] : [[names.join(' and '), reason]];
      }),
    );
  }

  decide({ nests, call, isAlone }: DirectRoute): Decided {
    const [controller, ...others] = this.controllersWith(call);
    const isTheOne = others.length === 0 && controller?.instance[call.name] === call.method;
    const reason =
      isTheOne && isNamedAfter(nests, controller, call)
        ? this.reasonForNest(nests, controller, call)
        : 'another method, or one of several controllers';
    return controller && reason === undefined
      ? { run: this.compile(nests, controller, call, isAlone), reason }
      : { run: nests, reason };
  }

  /** Whose method says the same of its call: what stands in a method's place may do so, too. */
  private controllersWith(call: HandlerCall): readonly Controller[] {
    const { name } = call;
    let byCall = this.byCall.get(name);
    if (!byCall) {
      byCall = new Map();
      for (const module of this.application.modules.values())
        for (const controller of module.controllers.values() as Iterable<Controller>) {
          const method: unknown = controller.instance?.[name];
          const said = typeof method === 'function' ? declaredRoute(method)?.call : undefined;
          if (said) byCall.set(said, [...(byCall.get(said) ?? []), controller]);
        }
      this.byCall.set(name, byCall);
    }
    return byCall.get(call) ?? [];
  }

  private reasonForNest(nests: AnyFunction, controller: Controller, call: HandlerCall): string | undefined {
    const { config, host } = this.application;
    const { guards, filter } = this.own;
    const { metatype } = controller;
    // Asked once for each class: 500 of them have 2,500 routes.
    if (!this.saidOfClass.has(controller))
      this.saidOfClass.set(controller, saidOfClass(metatype as object, config, { guards, filters: [filter] }));
    const said = this.saidOfClass.get(controller) ?? saidOfMethod(nests);
    if (said !== undefined) return said;
    if (!controller.isDependencyTreeStatic()) return 'scope';
    if (host.httpAdapter.getOnRouteTriggered?.() !== undefined) return 'onRouteTriggered';
    if (Reflect.getMetadata('__routeArguments__', metatype as object, call.name) !== call.told) return 'parameters';
    return Reflect.getMetadata('method', nests) === call.verb ? undefined : 'verb';
  }

  private compile(
    nests: AnyFunction,
    { host: module, instance }: Controller,
    call: HandlerCall,
    isAlone: IsAlone,
  ): AnyFunction {
    const { config, host } = this.application;
    const guards = [...(config.getGlobalGuards() as DirectGuard[]), ...this.own.guards];
    const filter = module?.injectables.get(this.own.filter)?.instance as InstanceType<OwnClasses['filter']>;
    const callee = { guards, call, instance };
    const { front } = this;
    const plain = plainHandler(callee, (exception) => filter.answerTo(exception));
    const { httpAdapter } = host;
    const writesText = (this.writesText ??= textWriter(httpAdapter));
    const enter = compileCall(callee, (request: HttpRequest, response: unknown, draft, status) => {
      if (!writesText(response, draft, status)) return httpAdapter.reply(response, draft.object(), status) as unknown;
      return void front?.learn(plain, { verb: RequestMethod[call.verb], request, response });
    });
    const fail = (exception: unknown, args: unknown[]): void =>
      void filter.catch(exception, new ExecutionContextHost(args));
    // Where hooks of Fastify are still at it, its reply says that the answer is on its way.
    const told = (response: unknown): unknown =>
      (response as { readonly sent?: boolean }).sent ? undefined : response;
    const runLater = async (answered: unknown, args: unknown[]): Promise<unknown> => {
      try {
        await answered;
      } catch (exception) {
        fail(exception, args);
      }
      return told(args[1]);
    };
    const runAtOnce = (request: HttpRequest, response: unknown, next: unknown): Promise<unknown> | undefined => {
      try {
        const answered = enter(request, response);
        return isLater(answered) ? runLater(answered, [request, response, next]) : undefined;
      } catch (exception) {
        return void fail(exception, [request, response, next]);
      }
    };
    const runBehind = async (request: HttpRequest, response: unknown, next: unknown): Promise<unknown> => {
      // Whoever has called it comes to an end first.
      await undefined;
      const later = runAtOnce(request, response, next);
      return later ? await later : told(response);
    };
    return (request, response, next) =>
      guards.every(isDirect)
        ? (isAlone(response) ? runAtOnce : runBehind)(request as HttpRequest, response, next)
        : nests(request, response, next);
  }
}

/**
 * Nest tells whose handler it is by its name alone, since version 12: what is said of a call may have been copied to the
 * method of another name, or of another class.
 */
const isNamedAfter = (nests: AnyFunction, { name }: Controller, call: HandlerCall): boolean =>
  nests.name === '' || nests.name === `${String(name)}.${call.name}`;
