/** The headers of the answers of account endpoints. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { HeaderWriter, HttpRequest } from '../http/http-request.js';

const RESPONSE = Symbol('declarest.response');

/** Express adds to a header by a method of its own. Fastify adds cookies by itself. */
type Response = HeaderWriter & { readonly append?: HeaderWriter['header'] };
type AnsweredRequest = HttpRequest & { [RESPONSE]?: Response };

export const keepResponse = (request: AnsweredRequest, response: Response): AnsweredRequest =>
  Object.assign(request, { [RESPONSE]: response });

/** A cookie is added to those of others. @throws Error for a request that no account endpoint answers */
export function setHeaders({ [RESPONSE]: response }: AnsweredRequest, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!response)
      throw new Error(
        `${name} must be sent by an account endpoint, got another route. Declare it by accountEndpoint().`,
      );
    // Fastify would notice it after the answer has begun, and send the text of the error.
    validateHeaderName(name);
    validateHeaderValue(name, value);
    if (name === 'Set-Cookie' && response.append) response.append(name, value);
    else response.header(name, value);
  }
}
