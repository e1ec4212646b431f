/** Makes Nest routes of the endpoints of accounts. */
import { Controller, HttpCode, Req, RequestMapping, Res } from '@nestjs/common';
import { RequestMethod, UseFilters, UseGuards, type Type } from '@nestjs/common';
import { authenticationOf, CREDENTIAL_ROLES } from '../../http/caller.js';
import { outsideOfTransactions } from '../../database/transactions.js';
import { hasBody, jsonBodyOf, type JsonObject } from '../../http/json-body.js';
import { AccessRefused, AuthenticationRequired } from '../../http/refusal.js';
import type { HeaderWriter, HttpRequest } from '../../http/http-request.js';
import { prefersProblem } from '../../problem-details/accept.js';
import { declareRoute } from '../../routes/declared-route.js';
import { failureFilter } from '../../routes/failure-filter.js';
import type { Attempt } from '../throttle/attempt.js';
import { clientInfoOf } from '../../http/client-info.js';
import { acceptAny, checkText, checkUser } from '../users/user-checks.js';
import { keepResponse } from '../../response-headers/account-headers.js';
import { noStore } from '../../response-headers/no-store.guard.js';
import { AuthPlugins, endpointsOf } from './auth-plugins.js';
import { AuthServices } from './auth-services.js';
import type { AuthPlugin, Endpoint, EndpointCall } from './plugin.js';
import { Proofs } from './proofs.js';

const filterOf = (hasFields: (request: HttpRequest) => boolean) =>
  failureFilter(({ message, fields, members }, request) => {
    return { ...members, success: false, message, ...(fields && hasFields(request) && { fields }) };
  });
const AuthFailureFilter = filterOf(() => true);
/** Their JSON has no `fields` (contract 2.3). Problem details of them have. */
const GIVEN = ['register', 'login'];
const GivenFailureFilter = filterOf(prefersProblem);

const BASE_PATH = 'AuthModule option `authBasePath`';

/** Each call creates a class, because routes are metadata of the class. A key opens none of them. */
export function endpointController(
  basePath: string,
  plugins: readonly AuthPlugin[],
  keys: AuthPlugin | undefined,
): Type<unknown> {
  @Controller()
  @UseGuards(noStore)
  class AccountController {
    constructor(readonly services: AuthServices) {}
  }
  const { prototype } = AccountController;
  const login = keys && { access: { anyOf: [CREDENTIAL_ROLES.login] }, declaredBy: `plugin ${keys.name}` };
  for (const endpoint of endpointsOf(plugins)) {
    const { name, route, access = 'authenticated', status = 200 } = endpoint;
    const methods = {
      async [name](this: AccountController, request: HttpRequest, response: HeaderWriter): Promise<unknown> {
        return answer(endpoint, this.services, keepResponse(request, response));
      },
    };
    const [verb, path] = route.split(' ') as [keyof typeof RequestMethod, string];
    const decorators = [
      RequestMapping({ method: RequestMethod[verb], path: path.startsWith('/') ? path : `${basePath}/${path}` }),
      HttpCode(status),
      UseFilters(GIVEN.includes(name) ? GivenFailureFilter : AuthFailureFilter),
    ];
    Object.assign(prototype, methods);
    Req()(prototype, name, 0);
    Res({ passthrough: true })(prototype, name, 1);
    const value = methods[name] as object;
    for (const decorate of decorators) decorate(prototype, name, { value });
    const reloadsUser = (): boolean => typeof access === 'object';
    const operationAccess = access === 'public' ? undefined : login;
    declareRoute(value, { declaredBy: BASE_PATH, access, operationAccess, reloadsUser, endpoint: name });
  }
  return AccountController;
}

type Call = EndpointCall<Readonly<Record<string, string>>>;

async function answer(endpoint: Endpoint, services: AuthServices, request: HttpRequest): Promise<unknown> {
  if (needsSession(endpoint)) await services.get(AuthPlugins).expectSession(request);
  const proofs = endpoint.needsProof && services.get(Proofs);
  const { body, sent } = readBody(endpoint, request, proofs ? proofs.all.map(({ member }) => member) : []);
  const call: Call = {
    request,
    address: clientInfoOf(request).address,
    body: body as Call['body'],
    id: String(request.params?.['id']),
    user() {
      const { principal, bearerWasSent, isKey } = authenticationOf(request) ?? {};
      if (isKey) throw new AccessRefused([CREDENTIAL_ROLES.login]);
      if (principal) return principal;
      throw new AuthenticationRequired(bearerWasSent === true);
    },
  };
  const attempt = attemptOf(endpoint, services, call);
  const run = async (): Promise<unknown> =>
    endpoint.run(services, proofs ? { ...call, proof: await proofs.expect(endpoint.needsProof, sent, call) } : call);
  // A refusal rolls back the transaction of an interceptor around, and must not undo a counted or spent attempt.
  return outsideOfTransactions(() => (attempt ? services.attempts.run(attempt, run) : run()));
}

const needsSession = ({ access, allowsEndedSession }: Endpoint): boolean =>
  access !== 'public' && allowsEndedSession !== true;

/** @param proofs members that prove the user @returns the body without them, and what was sent */
function readBody({ takesObject, texts, optionalTexts, needsProof }: Endpoint, request: HttpRequest, proofs: string[]) {
  if (!takesObject && !texts && !((optionalTexts || needsProof) && hasBody(request))) return { body: {}, sent: {} };
  const checks = Object.fromEntries(Object.keys({ ...texts, ...optionalTexts }).map((name) => [name, checkText]));
  for (const name of proofs) checks[name] = acceptAny;
  const sent: JsonObject = jsonBodyOf(request);
  const read = takesObject ? sent : checkUser(sent, checks, Object.keys(texts ?? {}));
  return { body: Object.fromEntries(Object.entries(read).filter(([name]) => !proofs.includes(name))), sent };
}

function attemptOf(endpoint: Endpoint, services: AuthServices, call: Call): Attempt | undefined {
  const { limit } = endpoint;
  if (typeof limit === 'function') return limit(services, call);
  const action = limit ?? (isLimited(endpoint) && endpoint.name);
  return action === false ? undefined : { action, address: call.address };
}

/** Whether the endpoint may be 429 by its `limit`. */
export const isLimited = ({ limit, access }: Endpoint): boolean =>
  limit !== false && (limit !== undefined || access === 'public');
