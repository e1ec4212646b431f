/** What a client sends and gets. */

export interface Request {
  readonly method: string;
  /** Absolute, or as `fetch` resolves it. */
  readonly url: string;
  /** Names the request in messages: a resource, such as `products`. */
  readonly resource: string;
  readonly query?: URLSearchParams;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly redirect?: 'error';
  /** Sends and takes cookies at other origins, too. */
  readonly credentials?: 'include';
  /** Sent without a token, as a login is. */
  readonly isAnonymous?: boolean;
}

/** Whether a body can be sent only once. */
export const isStream = (body: Request['body']): boolean =>
  typeof body === 'object' && body !== null && 'getReader' in body;

/** A response of any status, with its body. */
export interface Answer {
  readonly request: Request;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, or its text where it is not JSON; `undefined` where it is empty. */
  readonly body: unknown;
}

/** Sends requests, whatever their responses are. */
export interface Sender {
  /** The response with its body unread. @throws Failure where there is no response */
  open(request: Request): Promise<Response>;
  /** Reads the body of a response of `open`. @throws Failure where it is HTML */
  read(request: Request, response: Response): Promise<Answer>;
  /** Does both. */
  send(request: Request): Promise<Answer>;
}
