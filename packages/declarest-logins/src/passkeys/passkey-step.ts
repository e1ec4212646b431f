/** The endpoint for a passkey as the second step of a login. */
import { accountEndpoint, answers, checkBody, checks } from 'declarest/plugin';
import { LoginSteps } from '../login-steps/login-steps.js';
import { LOGIN } from './passkey-documents.js';
import { FACTOR_METHOD, Passkeys } from './passkeys.js';
import { readAssertion } from './sent-credential.js';

export const passkeyStep = accountEndpoint({
  name: 'answerChallengeByPasskey',
  route: 'POST passkeys/challenge',
  access: 'public',
  limit: 'passkey',
  takesObject: () => LOGIN,
  summary: 'Use a passkey as the second step of a login',
  description: 'The credential is for the options `passkey` in the answer of the login.',
  answers: (parts) => ({
    200: answers.login('Logged in', parts),
    401: answers.failure('The challenge or the passkey is not valid.', 'Invalid credentials'),
  }),
  run({ get }, call) {
    const { credential } = checkBody(call.body, { credential: checks.any }, ['credential']);
    const sent = readAssertion(credential);
    const check = (userId: string) => get(Passkeys).expectStep(sent, userId, call.address);
    const { challenge } = sent;
    return get(LoginSteps).complete({ challenge, action: 'passkeyStep', method: FACTOR_METHOD, check }, call);
  },
});
