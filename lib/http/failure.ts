/** Responses to failures of the package's own routes: status and message, without inner details. */
import { STATUS_CODES } from 'node:http';
import { inspect } from 'node:util';
import { BadRequestException, HttpException, Logger, ServiceUnavailableException } from '@nestjs/common';
import { AccessRefused, AuthenticationRequired } from './refusal.js';
import { pathOf, templateOf, type HttpRequest } from './http-request.js';
import { inTranslation, sayEach, type Say, type Translate } from './translation.js';

/** The end of a message that lists allowed names. One answer says it once, and JSON leaves the symbol out. */
const HINT = Symbol('hint');

export interface FieldError {
  readonly field: string;
  readonly message: string;
  readonly [HINT]?: string;
}

export const fieldError = (field: string, message: string, hint = ''): FieldError => ({
  field,
  message: message + hint,
  ...(hint && { [HINT]: hint }),
});

export interface WrongFields {
  /** Every wrong field of a request, at most 20. */
  readonly errors?: readonly FieldError[];
  /** What is wrong with each field: the messages of `errors` without lists of allowed names, or what a 409 says. */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface Failure extends WrongFields {
  readonly status: number;
  readonly message: string;
  /** What else the response of an HttpException of the application holds, such as a `code`. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** An answer lists at most 20 errors, so that no request causes a response many times its size. */
const MAX_ERRORS = 20;

export function limitErrors<T>(errors: readonly T[], describeRest: (message: string) => T): readonly T[] {
  if (errors.length <= MAX_ERRORS) return errors;
  return [...errors.slice(0, MAX_ERRORS), describeRest(`… and ${errors.length - MAX_ERRORS} more`)];
}

/** 400 that says several things, each of which is translated. */
export class SeveralMessages extends BadRequestException {
  /** @param field the field that all are about, where they do not begin with one, such as `name: required` */
  constructor(
    readonly messages: readonly string[],
    field?: string,
  ) {
    const errors = messages.map((text) => readFieldError(text, field));
    super({ statusCode: 400, error: 'Bad Request', message: messages.join('; '), errors });
  }
}

function readFieldError(text: string, given?: string): FieldError {
  const [, field = '', message = text, hint] = /^([^:]+): (.*?)(, expected only .*)?$/s.exec(text) ?? [];
  return given === undefined ? fieldError(field, message, hint) : fieldError(given, text);
}

export class ServiceUnavailable extends ServiceUnavailableException {
  constructor(
    message: string,
    readonly retryAfter: number,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}

export class TooManyAttempts extends HttpException {
  constructor(readonly retryAfter: number) {
    super(`Too many attempts, try again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}`, 429);
  }
}

/** The parser's own messages quote the body, which may hold a password: these do not. */
const UNREADABLE: Readonly<Record<number, string>> = {
  400: 'The request body is not a valid JSON object',
  413: 'The request body is larger than this server accepts',
  415: 'The request body must be application/json in UTF-8',
};

const logger = new Logger('declarest');

export const causeOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : inspect(error));

/** Calls code of the application that cannot change the answer. Its errors are logged. */
export async function notify(what: string, call: () => unknown, log = logger): Promise<void> {
  try {
    await call();
  } catch (error) {
    log.error(`${what} failed.`, causeOf(error));
  }
}

/** A body that the platform could not read; on the application's own routes it says what the platform says. */
export class UnreadableBody extends HttpException {
  constructor(cause: unknown) {
    const status = platformStatusOf(cause) ?? 400;
    const message = cause instanceof Error ? cause.message : '';
    super(HttpException.createBody(message, STATUS_CODES[status] ?? '', status), status, { cause });
  }
}

/** Tells the application of an unexpected error. */
export type ObserveError = (error: unknown, request: HttpRequest | undefined) => void;

export interface FailureTools {
  /** Is called for every failure of status 500. */
  readonly observe?: ObserveError;
  readonly translate?: Translate | undefined;
}

/** A promise only if messages are translated. @param given the hints that the answer has already */
export function failureOf(
  exception: unknown,
  request: HttpRequest | undefined,
  { observe, translate }: FailureTools = {},
  given = new Set<string>(),
): Failure | Promise<Failure> {
  const isHttp = exception instanceof HttpException;
  if (!isHttp)
    logger.error(`A request failed unexpectedly${request ? `: ${describeRequest(request)}` : ''}.`, causeOf(exception));
  const status = isHttp ? exception.getStatus() : 500;
  if (status === 500) observe?.(exception, request);
  const build = (say: Say, hints: Set<string>): Failure => ({
    status,
    ...(isHttp ? wordsOf(exception, hints, say) : { message: say('Internal server error') }),
  });
  if (!translate) return build((message) => message, given);
  const ask = (message: string, field?: string) => translate(message, { request, status, ...(field && { field }) });
  return inTranslation(build, ask, given);
}

/** `GET /api/products/:id, X-Request-Id "7f3a"`. Longer request ids are cut. */
function describeRequest(request: HttpRequest): string {
  const route = `${request.method} ${templateOf(request) ?? pathOf(request)}`;
  const id = request.headers['x-request-id'];
  return id === undefined ? route : `${route}, X-Request-Id ${JSON.stringify(String(id).slice(0, 200))}`;
}

export interface FailureAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** The headers that belong to an exception, whoever answers it. */
export function headersOf(exception: unknown): FailureAnswer['headers'] {
  if (exception instanceof AuthenticationRequired) return { 'WWW-Authenticate': exception.challenge };
  const isLater = exception instanceof ServiceUnavailable || exception instanceof TooManyAttempts;
  return isLater ? { 'Retry-After': String(exception.retryAfter) } : {};
}

/** A refusal keeps its body. A promise only if messages are translated. */
export function failureAnswer<R extends HttpRequest | undefined>(
  exception: unknown,
  request: R,
  bodyOf: (failure: Failure, request: R) => object,
  tools?: FailureTools,
): FailureAnswer | Promise<FailureAnswer> {
  const headers = headersOf(exception);
  if (exception instanceof AuthenticationRequired || exception instanceof AccessRefused)
    return { status: exception.getStatus(), body: exception.getResponse(), headers };
  const answer = (failure: Failure) => ({ status: failure.status, body: bodyOf(failure, request), headers });
  const failure = failureOf(exception, request, tools);
  return failure instanceof Promise ? failure.then(answer) : answer(failure);
}

function wordsOf(exception: HttpException, given: Set<string>, say: Say): Omit<Failure, 'status'> {
  if (exception instanceof UnreadableBody)
    return { message: say(UNREADABLE[exception.getStatus()] ?? 'The request body cannot be read') };
  const body = exception.getResponse();
  if (typeof body === 'string') return { message: say(body) };
  const { message, statusCode, error, errors, ...rest } = body as Readonly<Record<string, unknown>>;
  const words = exception instanceof SeveralMessages ? exception.messages : message;
  // Nest adds `statusCode` and `error` to a body that it creates. The application may have `errors` of another form.
  const own = {
    ...(statusCode === undefined && error !== undefined && { error }),
    ...(errors !== undefined && !areFieldErrors(errors) && { errors }),
    ...rest,
    // A 409 names the fields that are taken.
    ...(isObject(rest['fields']) && { fields: sayEach(rest['fields'], say) }),
  };
  const limited = areFieldErrors(errors) && limitErrors(errors, (rest) => fieldError('', rest));
  return {
    message: Array.isArray(words)
      ? words.map((each) => say(String(each))).join('; ')
      : say(typeof words === 'string' ? words : exception.message),
    ...(limited && wrongFields(limited, given, say)),
    ...(Object.keys(own).length > 0 && { members: own }),
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const areFieldErrors = (errors: unknown): errors is readonly FieldError[] =>
  Array.isArray(errors) &&
  errors.every(
    (each: Partial<FieldError> | null) => typeof each?.field === 'string' && typeof each.message === 'string',
  );

/** Forms show a message beside each field, without allowed names. Nothing where no error has a field. @param given the hints */
function wrongFields(errors: readonly FieldError[], given: Set<string>, say: Say): WrongFields {
  const messages = new Map<string, string>();
  const shown = errors.map((error) => {
    const { field, message, [HINT]: hint = '' } = error;
    const short = say(message.slice(0, message.length - hint.length), field);
    if (field !== '') messages.set(field, messages.has(field) ? `${messages.get(field)}; ${short}` : short);
    const isGiven = given.has(hint);
    given.add(hint);
    return { ...error, message: isGiven || hint === '' ? short : say(message, field) };
  });
  return { errors: shown, ...(messages.size > 0 && { fields: Object.fromEntries(messages) }) };
}

/** Express's body parser (http-errors) and Fastify mark what the client did wrong with a status of 4xx. */
export function platformStatusOf(exception: unknown): number | undefined {
  const { statusCode, status = statusCode } = (exception ?? {}) as { status?: unknown; statusCode?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}
