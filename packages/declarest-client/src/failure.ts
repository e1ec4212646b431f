/** Failures, and what the bodies of failed responses say. */
import type { Answer, Sender, Request } from './requests.js';

/** What a client throws. `message` is that of the server where it gives one. */
export class Failure extends Error {
  override readonly name = 'Failure';

  /**
   * @param status of the response; 0 where there is none, and 400 for a call that cannot be sent
   * @param fields messages by field or query parameter
   * @param answer the response of the server, where it is a failure in its own words
   */
  constructor(
    message: string,
    readonly status: number,
    readonly fields: Readonly<Record<string, string>> = {},
    readonly answer?: Answer,
  ) {
    super(message);
  }

  /** Whether the user must log in again. A wrong password of a logged-in user is a 401 too, and no reason for that. */
  get needsLogin(): boolean {
    return this.answer !== undefined && isTokenRefused(this.answer);
  }

  /**
   * Whether the endpoint needs a second factor, or one that was given more recently (RFC 9470). The token stays valid: log in
   * again with a code, and send the request again.
   */
  get needsFactor(): boolean {
    return this.answer !== undefined && isFactorMissing(this.answer);
  }

  /** Whether a change was refused because the user must log in again. A front end keeps the form, so that no text is lost. */
  get isUnsaved(): boolean {
    return this.needsLogin && this.answer?.request.method !== 'GET';
  }
}

/** The body of a failure: of a generated endpoint, an access rule, or Nest. */
export interface FailureBody {
  readonly success?: unknown;
  readonly message?: unknown;
  readonly error?: unknown;
  readonly statusCode?: unknown;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly fields?: Readonly<Record<string, string>>;
}

export const failureBody = ({ body }: Answer): FailureBody => (typeof body === 'object' && body !== null ? body : {});

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** The texts that the server gives as the reason of a failure, at least one. */
export function messagesOf(answer: Answer): readonly [string, ...string[]] {
  const { message, error } = failureBody(answer);
  const isText = (value: unknown): value is string => typeof value === 'string';
  const [first, ...others] = [message].flat().filter(isText);
  if (first !== undefined) return [first, ...others];
  return [isText(error) ? error : unexplained(answer.status)];
}

/** The server itself gives a reason with 503. */
const unexplained = (status: number): string =>
  [502, 503, 504].includes(status)
    ? `A proxy answered with status ${status}, because the server behind it does not answer. Try again later.`
    : `The server answered with status ${status}`;

/** Messages by field or query parameter. */
export function fieldsOf(answer: Answer): Readonly<Record<string, string>> {
  const { success, message, fields } = failureBody(answer);
  if (fields || success !== false || answer.status !== 400 || typeof message !== 'string') return fields ?? {};
  const [, taken] = /^User with (email|username) .+ already exists$/.exec(message) ?? [];
  if (taken !== undefined) return { [taken]: message };
  // The errors of accounts are in the message: `email: expected an e-mail address; password: …`.
  const named = message.split('; ').map((part) => /^(\w+): (.+)$/.exec(part));
  return Object.fromEntries(named.flatMap((match) => (match ? [[match[1], match[2]]] : [])));
}

/** Whether the server refuses this query parameter or member of the body, or what it names, as unknown. */
export const isUnknown = (answer: Answer, name: string): boolean =>
  answer.status === 400 && (fieldsOf(answer)[name]?.startsWith('unknown ') ?? false);

/** Whether the server has no such route: Nest answers in a format of its own. */
export const isMissingRoute = (answer: Answer): boolean =>
  answer.status === 404 && failureBody(answer).statusCode === 404 && messagesOf(answer)[0].startsWith('Cannot ');

const isFactorMissing = ({ status, headers }: Answer): boolean =>
  status === 401 && /\berror="insufficient_user_authentication"/.test(headers.get('WWW-Authenticate') ?? '');

/** Whether a 401 says that the token is not valid. That of a wrong password is `{success: false, message}`, without a challenge. */
export function isTokenRefused(answer: Answer): boolean {
  if (answer.status !== 401 || isFactorMissing(answer)) return false;
  const { success, error } = failureBody(answer);
  return answer.headers.has('WWW-Authenticate') || success !== false || error !== undefined;
}

export const failureOf = (answer: Answer): Failure =>
  new Failure(messagesOf(answer).join('; '), answer.status, fieldsOf(answer), answer);

/** What front ends show where a change `isUnsaved`. */
export const UNSAVED =
  'Your session has ended, and the change is not saved. Log in again, here or in another tab, and save then.';

/** What front ends show where an endpoint needs a second factor. */
export const NEEDS_FACTOR = 'This needs a code of your second factor. Log in again with a code, and repeat it then.';

/**
 * The content of a successful answer.
 *
 * @param url what may be wrong where it has none
 * @throws Failure then
 */
export function dataOf<T>({ request, status, body }: Answer, url = 'the url of the provider'): T {
  const data = (body as { readonly data?: T } | undefined)?.data;
  if (data !== undefined && data !== null) return data;
  throw new Failure(
    `The answer from ${request.url} for "${request.resource}" must be an object with "data". Check ${url}.`,
    status,
  );
}

/** @throws Failure where the answer is no success */
export async function succeed(sender: Sender, request: Request): Promise<Answer> {
  const answer = await sender.send(request);
  if (isSuccess(answer)) return answer;
  throw failureOf(answer);
}

/** As {@link succeed}, with the body of the response unread. */
export async function openSuccess(sender: Sender, request: Request): Promise<Response> {
  const response = await sender.open(request);
  if (response.ok) return response;
  throw failureOf(await sender.read(request, response));
}

/** The methods of a provider, with the errors of its front end instead of failures. */
export function withErrors<T extends object>(methods: T, toError: (failure: Failure) => Error): T {
  const translated =
    (method: (...args: unknown[]) => unknown) =>
    async (...args: unknown[]): Promise<unknown> => {
      try {
        return await method(...args);
      } catch (error) {
        throw error instanceof Failure ? toError(error) : error;
      }
    };
  const members = Object.entries(methods).map(([name, value]) => [
    name,
    typeof value === 'function' ? translated(value) : value,
  ]);
  return Object.fromEntries(members) as T;
}
