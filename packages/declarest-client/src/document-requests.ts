/** The requests of a client with the types of a document: paths, parameters, bodies and answers. */
import type { AnyRequests, QueryValue, RequestOptions } from './client-requests.js';
import type { At, IsUntyped, JsonOf, Method, OperationOf, PathName, RecordOf } from './document-types.js';

/** The requests of a client, with the types of a document where it has them. */
export type Requests<Paths, Base extends string> =
  IsUntyped<Paths> extends true ? AnyRequests : DocumentRequests<Paths, Base>;

interface DocumentRequests<Paths, Base extends string> {
  request<M extends Method, Name extends PathName<Paths, Base, M>>(
    method: M,
    path: Name,
    options: SeparateOptions<OperationOf<Paths, Base, M, Name>>,
  ): Promise<AnswerOf<OperationOf<Paths, Base, M, Name>, 207>>;
  request<M extends Method, Name extends PathName<Paths, Base, M>>(
    method: M,
    path: Name,
    ...options: Arguments<TogetherOptions<OperationOf<Paths, Base, M, Name>>>
  ): Promise<AnswerOf<OperationOf<Paths, Base, M, Name>, Success>>;
  stream<M extends Method, Name extends PathName<Paths, Base, M>>(
    method: M,
    path: Name,
    ...options: Arguments<OptionsOf<OperationOf<Paths, Base, M, Name>>>
  ): Promise<Response>;
  lines<M extends Method, Name extends PathName<Paths, Base, M>>(
    method: M,
    path: Name,
    ...options: Arguments<OptionsOf<OperationOf<Paths, Base, M, Name>>>
  ): AsyncGenerator<LineOf<Paths, Base, Name>>;
}

/** What became of a line of an imported file: it has `data`, or `message` and `errors`. */
export interface ImportResult<T = unknown> {
  /** The first line is 1. */
  readonly line: number;
  /** As that of a request which creates the record. */
  readonly status: number;
  readonly data?: T;
  readonly message?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

/** The options may be left out where none is required. */
type Arguments<Options> = Partial<Options> extends Options ? [options?: Options] : [options: Options];

type OptionsOf<Operation> = Pick<RequestOptions, 'seen' | 'headers' | 'signal'> &
  Option<'params', At<At<Operation, 'parameters'>, 'path'>> &
  Option<'query', WithGroups<At<At<Operation, 'parameters'>, 'query'>>> &
  BodyOf<At<Operation, 'requestBody'>>;

/** A member of the options. @typeParam Value with `undefined` where it may be left out */
type Option<Name extends string, Value> = [NonNullable<Value>] extends [never]
  ? { readonly [Each in Name]?: never }
  : undefined extends Value
    ? { readonly [Each in Name]?: NonNullable<Value> }
    : { readonly [Each in Name]: Value };

/** With groups of filters, which a document cannot list. */
type WithGroups<Query> = Query extends object
  ? Extract<keyof Query, `filter[${string}`> extends never
    ? Query
    : Query | (Query & Readonly<Record<`filter[${'and' | 'or' | 'not'}]${string}`, QueryValue>>)
  : Query;

type BodyOf<Body> = [JsonOf<NonNullable<Body>>] extends [never]
  ? Option<'body', Body extends object ? NonNullable<RequestInit['body']> : Body> & { readonly json?: never }
  : Option<'json', Body extends object ? JsonOf<Body> : Body> & { readonly body?: never };

/** A batch answers 207 where each item is written by itself. */
type IsBatch<Operation, Then, Else> = Operation extends { readonly responses: { readonly 207: unknown } } ? Then : Else;

type SeparateOptions<Operation> = IsBatch<
  Operation,
  OptionsOf<Operation> & { readonly query: { readonly atomic: false } },
  never
>;

type TogetherOptions<Operation> = OptionsOf<Operation> &
  IsBatch<Operation, { readonly query?: { readonly atomic?: true } }, unknown>;

type Success = 200 | 201 | 202 | 204;

type AnswerOf<Operation, Status> = Operation extends { readonly responses: infer Responses }
  ? Known<
      {
        [Each in keyof Responses & Status]: Each extends 204 ? undefined : JsonOf<Responses[Each]>;
      }[keyof Responses & Status]
    >
  : unknown;

type LineOf<Paths, Base extends string, Name extends string> = Name extends `${infer Resource}/export`
  ? Known<RecordOf<Paths, Base, Resource>>
  : Name extends `${infer Resource}/import`
    ? ImportResult<Known<RecordOf<Paths, Base, Resource>>>
    : unknown;

/** What a document leaves out. */
type Known<T> = [T] extends [never] ? unknown : T;
