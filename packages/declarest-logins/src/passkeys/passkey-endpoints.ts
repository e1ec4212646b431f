/** The endpoints below `{base}/passkeys`. */
import { NotFoundException } from '@nestjs/common';
import { DuplicateUserError, type JsonObject } from 'declarest';
import {
  accountEndpoint,
  answers,
  authenticationOf,
  AuthServices,
  checkBody,
  checks,
  type Endpoint,
  type EndpointCall,
  schemas,
} from 'declarest/plugin';
import { ADDITION, CEREMONY, LOGIN, NAME, PASSKEY, REGISTRATION, START_REGISTRATION } from './passkey-documents.js';
import type { ChallengeOwner } from './passkey-challenges.js';
import { PasskeyStore } from './passkey-store.js';
import type { Passkey } from './passkey-tables.js';
import { DEFAULT_NAME, NOT_VERIFIED, Passkeys } from './passkeys.js';
import { readAssertion, readAttestation } from './sent-credential.js';
import { momentOf, momentOrNull } from '../moments.js';

const WRONG_NEW = {
  400: answers.failure('The body or the passkey is not valid.', NOT_VERIFIED),
  409: answers.failure('It is known already, or there are too many.', 'This passkey is known already'),
};
export const toView = ({ id, name, backedUp, createdAt, lastUsedAt }: Passkey) => ({
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
  endpoint: Omit<Endpoint, 'run' | 'texts' | 'optionalTexts'>,
  start: (services: AuthServices, call: EndpointCall) => Promise<object>,
): Endpoint =>
  accountEndpoint({
    optionalTexts: {},
    ...endpoint,
    limit: false,
    answers: { 200: answers.plain('For the browser', CEREMONY), ...answers.limited, ...endpoint.answers },
    async run(services, call) {
      await services.attempts.take({ action: 'passkeyChallenge', address: call.address });
      return { success: true, data: await start(services, call) };
    },
  });

/** The name of the user in the list of an authenticator. @throws 400 also for one that is taken */
async function readFreeLogin(
  { options, users, attempts }: AuthServices,
  body: JsonObject,
  address: string | undefined,
) {
  const { loginField } = options;
  const fields = checkBody(body, { email: checks.email, username: checks.username }, [loginField]);
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
    answers: (parts) => ({
      200: answers.login('Logged in', parts),
      401: answers.failure('The passkey or its challenge is not valid.', 'Invalid credentials'),
    }),
    run({ get }, { body, request, address }) {
      const { credential } = checkBody(body, { credential: checks.any }, ['credential']);
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
    answers: (parts) => ({
      201: answers.registration('Registered and logged in', parts),
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
    ({ get, options: { loginField } }, call) => {
      return get(Passkeys).startAddition(ownerOf(call), (user) => user[loginField] ?? String(user.id));
    },
  ),
  accountEndpoint({
    name: 'addPasskey',
    route: 'POST passkeys',
    status: 201,
    takesObject: () => ADDITION,
    summary: 'Add a passkey',
    answers: { 201: answers.data('Added', { passkey: schemas.named(PASSKEY.name) }), ...WRONG_NEW },
    async run({ get }, call) {
      const rules = { credential: checks.any, name: checks.username };
      const { credential, name = DEFAULT_NAME } = checkBody(call.body, rules, ['credential']);
      const passkey = await get(Passkeys).add(readAttestation(credential), String(name), ownerOf(call));
      return { success: true, message: 'Passkey added', data: { passkey: toView(passkey) } };
    },
  }),
  accountEndpoint({
    name: 'findPasskeys',
    route: 'GET passkeys',
    summary: 'List own passkeys',
    answers: { 200: answers.list('The own passkeys, the oldest first', schemas.named(PASSKEY.name)) },
    async run({ get }, { user }) {
      return { success: true, data: (await get(PasskeyStore).listOf(String(user().id))).map(toView) };
    },
  }),
  accountEndpoint({
    name: 'renamePasskey',
    route: 'PATCH passkeys/:id',
    texts: { name: NAME },
    summary: 'Rename an own passkey',
    answers: { 200: answers.data('Renamed', { passkey: schemas.named(PASSKEY.name) }), ...answers.unknown('Passkey') },
    async run({ get }, { user, id, body }) {
      const { name } = checkBody(body, { name: checks.username }, ['name']);
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
      ...answers.unknown('Passkey'),
      409: answers.failure('The user has no password and no other passkey.', 'This is the last way to log in'),
    },
    async run(services, call) {
      if (!(await services.get(Passkeys).remove(String(call.user().id), call.id))) throw unknownPasskey(call.id);
    },
  }),
];

const unknownPasskey = (id: string): NotFoundException => new NotFoundException(`Passkey with id ${id} not found`);
