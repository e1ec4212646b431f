/** The generated controller: it knows HTTP only, and asks the operations of its resource. */
import { Controller, Inject, Optional, UseFilters, UseGuards, type Type } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { Answer } from '../http/at-once.js';
import type { JsonObject } from '../http/json-body.js';
import type { Draft } from '../http/json-answer.js';
import type { HandlerCall } from '../routes/declared-route.js';
import { Answers } from './answers.js';
import { markCreated, type Locate } from './created-location.js';
import { resolveCrudOptions, type CrudOptions, type ResolvedCrudOptions } from './crud.options.js';
import { CrudEdge, readableBody } from './crud.edge.js';
import type { Envelope } from './envelope.js';
import type { ListQuery } from './list-query.js';
import { operationsFor, rememberDeclaration } from './declared-resources.js';
import { addRoutes, DATA_SOURCE, Described, type RouteName } from './generated-routes.js';

/** What a generated controller does; a subclass overrides what it wants otherwise, and calls `super` for the rest. */
export interface GeneratedController<T extends object> {
  findAll(query: ListQuery): Promise<Envelope<T[]>>;
  findById(id: string): Promise<Envelope<T>>;
  create(body: JsonObject): Promise<Envelope<T>>;
  update(id: string, body: JsonObject): Promise<Envelope<T>>;
  delete(id: string): Promise<Envelope<null>>;
  /** Reachable where `enableSearch` is on. */
  search(query: ListQuery): Promise<Envelope<T[]>>;
  /** Reachable where `enableExists` is on. */
  exists(id: string): Promise<Envelope<{ exists: boolean }>>;
}

// A mixin's constructor must take any arguments (TypeScript handbook, "Mixins"); the generated one takes none.
// oxlint-disable-next-line typescript/no-explicit-any
export type GeneratedControllerClass<T extends object> = new (...args: any[]) => GeneratedController<T>;

// Of what all of them extend, for the same reason as their parameters: to say it 500 times takes a while. So does to look
// for the guard of each, where it is a class.
for (const decorate of [UseGuards(readableBody), UseFilters(CrudEdge)]) decorate(Described);
inject(undefined, Described.prototype);

function inject(dataSource: string | undefined, prototype: Described): void {
  Inject(getDataSourceToken(dataSource) as string)(prototype, DATA_SOURCE);
  // Where there is none, the boot says so in a sentence of its own.
  Optional()(prototype, DATA_SOURCE);
}

/**
 * The generated controller of an entity, to be registered as it is or extended.
 *
 * @throws InvalidOptionError
 */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  const { entity, endpoint, enableSearch, enableExists, dataSource } = resolved;
  const { Generated, answerOf } = generate(resolved);

  const optional = { search: enableSearch, exists: enableExists };
  const isServed = (name: RouteName): boolean => !(name in optional) || optional[name as keyof typeof optional];
  addRoutes(Generated.prototype, isServed, answerOf);
  if (dataSource !== undefined) {
    // In the place of what all of them inherit: Nest 11 would take both, and now one, now the other.
    Reflect.defineMetadata('self:properties_metadata', [], Generated);
    inject(dataSource, Generated.prototype);
  }
  Controller(endpoint)(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  rememberDeclaration(Generated, resolved);
  return Generated;
}

function generate<T extends object>(
  options: ResolvedCrudOptions<T>,
): {
  readonly Generated: Type<GeneratedController<T>>;
  readonly answerOf: (name: RouteName) => HandlerCall['answer'];
} {
  const answersOf = rememberedAnswers(options);

  class Generated extends Described implements GeneratedController<T> {
    // Fixed paths first: Nest declares routes in the order of the methods, and Express asks them in that.
    async search(query: ListQuery): Promise<Envelope<T[]>> {
      return (await answersOf(this).search(query)).object();
    }

    async exists(id: string): Promise<Envelope<{ exists: boolean }>> {
      return (await answersOf(this).exists(id)).object();
    }

    async findAll(query: ListQuery): Promise<Envelope<T[]>> {
      return (await answersOf(this).findAll(query)).object();
    }

    async findById(id: string): Promise<Envelope<T>> {
      return (await answersOf(this).findById(id)).object();
    }

    /** @param locate where the route is the generated one; an override passes the answer on */
    async create(body: JsonObject, locate?: Locate): Promise<Envelope<T>> {
      let id!: Parameters<Locate>[0];
      const draft = await answersOf(this).create(body, (made) => (id = made));
      const answer = draft.object();
      if (typeof locate !== 'function') return markCreated(answer, id);
      locate(id);
      return answer;
    }

    async update(id: string, body: JsonObject): Promise<Envelope<T>> {
      return (await answersOf(this).update(id, body)).object();
    }

    async delete(id: string): Promise<Envelope<null>> {
      return (await answersOf(this).delete(id)).object();
    }
  }
  return {
    Generated,
    answerOf: (name) => (controller, values) => {
      const answers = answersOf(controller as Described);
      return (answers[name] as (...sent: readonly unknown[]) => Answer<Draft>).apply(answers, values as unknown[]);
    },
  };
}

/** Of the data source that a controller was given; one class seldom has controllers of two. */
function rememberedAnswers<T extends object>(options: ResolvedCrudOptions<T>): (controller: Described) => Answers<T> {
  let last: { readonly of: DataSource; readonly answers: Answers<T> } | undefined;
  return ({ [DATA_SOURCE]: dataSource }) => {
    if (last?.of !== dataSource)
      last = { of: dataSource, answers: new Answers(options, operationsFor(options, dataSource)) };
    return last.answers;
  };
}
