/** How the readers of credentials are asked, and how their answers are combined. */
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import {
  Authenticator,
  guardedLookup,
  type CredentialReader,
  type Credentials,
  type Identified,
} from '../../../lib/access/identity/authenticator.js';
import { authenticationOf, setAuthentication, storedUserOf, type Authentication } from '../../../lib/http/caller.js';
import { ServiceUnavailable } from '../../../lib/http/failure.js';
import type { HttpRequest } from '../../../lib/http/http-request.js';

const userWith = (...roles: string[]) => ({ id: 1, email: '', roles });
const USER = userWith('USER');
const EDITOR = userWith('EDITOR');

const requestWith = (authorization?: string): HttpRequest => ({
  method: 'GET',
  headers: authorization === undefined ? {} : { authorization },
});

/** A reader that counts its calls. */
function reader(read: CredentialReader['read'], ownsTokens = false) {
  const calls: Identified[] = [];
  return {
    ownsTokens,
    calls,
    read: (...[request, known, context]: Parameters<CredentialReader['read']>) => {
      calls.push(known);
      return read(request, known, context);
    },
  };
}

function authenticatorWith(readers: readonly CredentialReader[], stored?: Authentication) {
  const reload = vi.fn<Credentials['reload']>(async (known) => stored ?? known);
  return { authenticator: new Authenticator({ readers: [...readers], reload }), reload };
}

describe('[2.5] the user of a new request', () => {
  it('is set at once where no reader waits', () => {
    const found: Identified = { bearerWasSent: true, principal: USER };
    const request = requestWith('Bearer a');
    expect(authenticatorWith([{ read: () => found }]).authenticator.identify(request)).toBeUndefined();
    expect(authenticationOf(request)).toBe(found);
  });

  it('is unknown until a lookup has ended', async () => {
    const request = requestWith();
    const { authenticator } = authenticatorWith([{ read: async () => ({ bearerWasSent: false, principal: USER }) }]);
    const identified = authenticator.identify(request);
    expect(authenticationOf(request)).toBeUndefined();
    await identified;
    expect(authenticationOf(request)?.principal).toEqual(USER);
  });

  it('is nobody where a reader throws, and the token counts as invalid', () => {
    const throwing = () => {
      throw new URIError('URI malformed');
    };
    expect(authenticatorWith([{ read: throwing }]).authenticator.find(requestWith())).toEqual({ bearerWasSent: true });
  });
});

describe('[2.5] readers behind the first one', () => {
  const none = () => undefined;

  it.each<
    [
      what: string,
      authorization: string | undefined,
      ownsTokens: boolean,
      found: Identified | undefined,
      isAsked: boolean,
    ]
  >([
    [
      'are not asked about a token that its owner knows',
      'Bearer a',
      true,
      { bearerWasSent: true, token: 'a', principal: USER },
      false,
    ],
    [
      'check a token that a reader knows, but does not own',
      'Bearer a',
      false,
      { bearerWasSent: true, token: 'a', principal: USER },
      true,
    ],
    ['check a token that its owner does not know', 'Bearer a', true, undefined, true],
    ['check a user that was found without a token', undefined, true, { bearerWasSent: false, principal: USER }, true],
    [
      'are not asked about a user that is known completely',
      undefined,
      false,
      { bearerWasSent: false, principal: USER, isComplete: true },
      false,
    ],
  ])('%s', (_, authorization, ownsTokens, found, isAsked) => {
    const second = reader(none);
    const { authenticator } = authenticatorWith([reader(() => found, ownsTokens), second]);
    void authenticator.find(requestWith(authorization));
    expect(second.calls).toHaveLength(isAsked ? 1 : 0);
  });

  it('are not asked while the owner of tokens looks one up', async () => {
    const second = reader(none);
    const looking = reader(async () => ({ bearerWasSent: true, principal: USER }), true);
    await authenticatorWith([looking, second]).authenticator.find(requestWith('Bearer a'));
    expect(second.calls).toEqual([]);
  });

  it('can name a user completely, who is then not read from the database', async () => {
    const complete: Identified = { bearerWasSent: false, principal: USER, isComplete: true };
    const { authenticator, reload } = authenticatorWith([{ read: async () => complete }]);
    expect(await authenticator.find(requestWith())).toBe(complete);
    expect(reload).not.toHaveBeenCalled();
  });
});

describe('[2.5] the stored user of a request', () => {
  /** What a request has after its user was read, and what the readers were asked. */
  async function reloaded(stored: Authentication, answer?: Identified) {
    const request = requestWith('Bearer a');
    setAuthentication(request, { bearerWasSent: stored.bearerWasSent, principal: USER });
    const plugin = reader(() => answer);
    await authenticatorWith([plugin], stored).authenticator.reloadUser(request);
    return { asked: plugin.calls, found: authenticationOf(request), user: storedUserOf(request) };
  }

  it('is not read where nobody has identified the request', async () => {
    const request = requestWith();
    const { authenticator, reload } = authenticatorWith([]);
    await authenticator.reloadUser(request);
    expect(reload).not.toHaveBeenCalled();
    expect(authenticationOf(request)).toBeUndefined();
  });

  it('with another role than in the token, is checked by the plugins again', async () => {
    const stored: Authentication = { bearerWasSent: true, principal: EDITOR };
    expect(await reloaded(stored)).toEqual({ asked: [stored], found: stored, user: EDITOR });
    const refused = { bearerWasSent: true };
    expect(await reloaded(stored, refused)).toEqual({ asked: [stored], found: refused, user: undefined });
  });

  it.each<[what: string, stored: Authentication]>([
    ['with the role of its token', { bearerWasSent: true, principal: USER }],
    ['of a key', { bearerWasSent: true, isKey: true, principal: EDITOR }],
    ['without a bearer token', { bearerWasSent: false, principal: EDITOR }],
  ])('%s, is not checked by the plugins again', async (_, stored) => {
    expect(await reloaded(stored)).toEqual({ asked: [], found: stored, user: stored.principal });
  });
});

describe('[2.5] a lookup that fails', () => {
  it('has the answer of the reader, and no line in the log, where the reader says that the service is unavailable', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const failure = new ServiceUnavailable('The key server is not reachable', 9);
    const found = await guardedLookup('The key', () => Promise.reject(failure));
    expect(found).toEqual({ bearerWasSent: true, failure });
    expect(found.failure).toBe(failure);
    expect(error).not.toHaveBeenCalled();
    error.mockRestore();
  });

  it('answers 503 with its cause, and is logged', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const cause = new Error('no connection');
    const { failure, ...others } = await guardedLookup('The key', () => Promise.reject(cause));
    expect(others).toEqual({ bearerWasSent: true });
    expect(failure).toMatchObject({
      message: 'The database is temporarily unavailable, try again',
      retryAfter: 5,
      cause,
    });
    expect(error.mock.calls).toEqual([['The key could not be read.', cause.stack]]);
    error.mockRestore();
  });
});
