/** The endpoints below `{base}/passkeys`. */
import { NotFoundException } from '@nestjs/common';
import { DuplicateUserError, type JsonObject } from 'declarest';
import {
  acceptAny,
  accountEndpoint,
  AUTH_OPTIONS,
  authenticationOf,
  authFailure,
  type AuthServices,
  checkUser,
  dataAnswer,
  type Endpoint,
  type EndpointCall,
  jsonResponse,
  LIMITED,
  openObject,
  PROFILE,
  refTo,
  type ResolvedAuthOptions,
  TOKEN,
  TRUE,
  unknown,
  USER_CHECKS,
} from 'declarest/plugin';
import { momentOf, momentOrNull } from '../moments.js';
import { ADDITION, LOGIN, NAME, PASSKEY, REGISTRATION, START_REGISTRATION, startAnswer } from './passkey-documents.js';
import type { ChallengeOwner } from './passkey-challenges.js';
import { PasskeyStore } from './passkey-store.js';
import type { Passkey } from './passkey-tables.js';
import { DEFAULT_NAME, NOT_VERIFIED, Passkeys } from './passkeys.js';
import { readAssertion, readAttestation } from './sent-credential.js';

const WRONG_NEW = {
  400: authFailure('The body or the passkey is not valid.', NOT_VERIFIED),
  409: authFailure('It is known already, or there are too many.', 'This passkey is known already'),
};
const toView = ({ id, name, backedUp, createdAt, lastUsedAt }: Passkey) => ({
  id,
  name,
  backedUp,
  createdAt: momentOf(createdAt),
  lastUsedAt: momentOrNull(lastUsedAt),
});

export const ownerOf = ({ user, request }: EndpointCall): ChallengeOwner => ({
  userId: String(user().id),
  session: authenticationOf(request)?.session ?? '',
});

/** Endpoints that create a challenge, which cost a row each. */
const startEndpoint = (
  endpoint: Pick<
    Endpoint,
    'name' | 'route' | 'access' | 'needs' | 'needsProof' | 'takesObject' | 'summary' | 'description' | 'answers'
  >,
  start: (services: AuthServices, call: EndpointCall) => Promise<object>,
): Endpoint =>
  accountEndpoint({
    optionalTexts: {},
    ...endpoint,
    limit: false,
    answers: { ...startAnswer, ...LIMITED, ...endpoint.answers },
    async run(services, call) {
      await services.attempts.take({ action: 'passkeyChallenge', address: call.address });
      return { success: true, data: await start(services, call) };
    },
  });

/** The name of the user in the list of an authenticator. @throws 400 also for one that is taken */
async function readFreeLogin({ get, users, attempts }: AuthServices, body: JsonObject, address: string | undefined) {
  const { loginField } = get<ResolvedAuthOptions>(AUTH_OPTIONS);
  const fields = checkUser(body, { email: USER_CHECKS.email, username: USER_CHECKS.username }, [loginField]);
  await attempts.run({ action: 'register', address }, async () => {
    for (const [field, value] of Object.entries(fields) as ['email' | 'username', string][])
      if (await users.findByLogin(field, value)) throw new DuplicateUserError(field, value);
  });
  return String(fields[loginField]);
}

export const ENDPOINTS: readonly Endpoint[] = [
  startEndpoint(
    {
      name: 'startPasskeyLogin',
      route: 'POST passkeys/login/options',
      access: 'public',
      summary: 'Begin to log in by a passkey',
      description: 'The answer is for `PublicKeyCredential.parseRequestOptionsFromJSON`.',
    },
    ({ get }) => get(Passkeys).startLogin(),
  ),
  accountEndpoint({
    name: 'logInByPasskey',
    route: 'POST passkeys/login',
    access: 'public',
    limit: 'passkey',
    takesObject: () => LOGIN,
    summary: 'Log in by a passkey',
    answers: ({ identity, members }) => ({
      200: dataAnswer('Logged in', { user: identity, ...TOKEN, ...members }),
      401: authFailure('The passkey or its challenge is not valid.', 'Invalid credentials'),
    }),
    run({ get }, { body, request, address }) {
      const { credential } = checkUser(body, { credential: acceptAny }, ['credential']);
      return get(Passkeys).logIn(readAssertion(credential), request, address);
    },
  }),
  startEndpoint(
    {
      name: 'startPasskeyRegistration',
      route: 'POST passkeys/register/options',
      access: 'public',
      needs: 'register',
      takesObject: () => START_REGISTRATION,
      summary: 'Begin to register by a passkey',
      description: 'The answer is for `PublicKeyCredential.parseCreationOptionsFromJSON`.',
    },
    async (services, { body, address }) =>
      services.get(Passkeys).startRegistration(await readFreeLogin(services, body, address)),
  ),
  accountEndpoint({
    name: 'registerByPasskey',
    route: 'POST passkeys/register',
    access: 'public',
    status: 201,
    needs: 'register',
    limit: 'register',
    takesObject: REGISTRATION,
    summary: 'Register by a passkey, without a password',
    answers: ({ members }) => ({
      201: dataAnswer('Registered and logged in', { user: PROFILE, ...TOKEN, ...members }),
      ...WRONG_NEW,
    }),
    run({ get }, { body: { credential, ...fields }, request }) {
      return get(Passkeys).register(fields, readAttestation(credential), request);
    },
  }),
  startEndpoint(
    {
      name: 'startPasskeyConfirmation',
      route: 'POST passkeys/confirm/options',
      summary: 'Begin to confirm a change by a passkey',
      description: 'Its credential is a proof of the user, in place of the password.',
    },
    ({ get }, call) => get(Passkeys).startConfirmation(ownerOf(call)),
  ),
  startEndpoint(
    {
      name: 'startPasskey',
      route: 'POST passkeys/options',
      needsProof: 'factor',
      summary: 'Begin to add a passkey',
      description: 'The answer is for `PublicKeyCredential.parseCreationOptionsFromJSON`.',
      answers: { 409: WRONG_NEW[409] },
    },
    ({ get }, call) => {
      const { loginField } = get<ResolvedAuthOptions>(AUTH_OPTIONS);
      return get(Passkeys).startAddition(ownerOf(call), (user) => user[loginField] ?? String(user.id));
    },
  ),
  accountEndpoint({
    name: 'addPasskey',
    route: 'POST passkeys',
    status: 201,
    takesObject: () => ADDITION,
    summary: 'Add a passkey',
    answers: { 201: dataAnswer('Added', { passkey: refTo(PASSKEY.name) }), ...WRONG_NEW },
    async run({ get }, call) {
      const checks = { credential: acceptAny, name: USER_CHECKS.username };
      const { credential, name = DEFAULT_NAME } = checkUser(call.body, checks, ['credential']);
      const passkey = await get(Passkeys).add(readAttestation(credential), String(name), ownerOf(call));
      return { success: true, message: 'Passkey added', data: { passkey: toView(passkey) } };
    },
  }),
  accountEndpoint({
    name: 'findPasskeys',
    route: 'GET passkeys',
    summary: 'List own passkeys',
    answers: {
      200: jsonResponse(
        'The own passkeys, the oldest first',
        openObject({ success: TRUE, data: { type: 'array', items: refTo(PASSKEY.name) } }),
      ),
    },
    async run({ get }, { user }) {
      return { success: true, data: (await get(PasskeyStore).listOf(String(user().id))).map(toView) };
    },
  }),
  accountEndpoint({
    name: 'renamePasskey',
    route: 'PATCH passkeys/:id',
    texts: { name: NAME },
    summary: 'Rename an own passkey',
    answers: { 200: dataAnswer('Renamed', { passkey: refTo(PASSKEY.name) }), ...unknown('Passkey') },
    async run({ get }, { user, id, body }) {
      const { name } = checkUser(body, { name: USER_CHECKS.username }, ['name']);
      const passkey = await get(PasskeyStore).rename(String(user().id), id, String(name));
      if (!passkey) throw unknownPasskey(id);
      return { success: true, message: 'Passkey renamed', data: { passkey: toView(passkey) } };
    },
  }),
  accountEndpoint({
    name: 'removePasskey',
    route: 'DELETE passkeys/:id',
    status: 204,
    needsProof: 'any',
    summary: 'Remove an own passkey',
    answers: {
      ...unknown('Passkey'),
      409: authFailure('The user has no password and no other passkey.', 'This is the last way to log in'),
    },
    async run(services, call) {
      if (!(await services.get(Passkeys).remove(String(call.user().id), call.id))) throw unknownPasskey(call.id);
    },
  }),
];

const unknownPasskey = (id: string): NotFoundException => new NotFoundException(`Passkey with id ${id} not found`);
