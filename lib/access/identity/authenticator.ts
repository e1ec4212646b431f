/** Finds who sends a request: asks the readers of credentials in their order, and combines what they say. */
import { Inject, Injectable, Logger, type ExecutionContext } from '@nestjs/common';
import { authenticationOf, setAuthentication, setStoredUser, type Authentication } from '../../http/caller.js';
import { ServiceUnavailable } from '../../http/failure.js';
import { bearerOf, type HttpRequest } from '../../http/http-request.js';

/** What a reader knows of the sender of a request. */
export interface Identified extends Authentication {
  /** No other reader is asked, and nothing is read from the database. */
  readonly isComplete?: boolean;
}

/** Reads credentials of one kind. It never rejects. */
export interface CredentialReader {
  /** Whether a bearer token that it knows is its own, so that no reader behind it is asked. */
  readonly ownsTokens?: boolean;
  /**
   * Identifies a request, or checks what readers before it have found.
   * @param context the handler that the request is for, where guards of the application identify users
   * @returns at once, `undefined` where it has nothing to say; a promise can only confirm or refuse a user that is known
   */
  read(
    request: HttpRequest,
    known: Identified,
    context?: ExecutionContext,
  ): Promise<Identified> | Identified | undefined;
}

/** How a module identifies users. */
export abstract class Credentials {
  /** In their order. declarest/testing puts one in front. */
  abstract readonly readers: CredentialReader[];

  /** Reads the user again: with the present role, or without a principal. Never rejects. */
  abstract reload(known: Authentication): Promise<Authentication>;
}

@Injectable()
export class Authenticator {
  constructor(@Inject(Credentials) private readonly credentials: Credentials) {}

  /** @returns a promise only where something has to be looked up: until then, a new request has no user */
  identify(request: HttpRequest): Promise<void> | undefined {
    const found = this.find(request);
    // Other messages of the connection keep what was found for the last one.
    if (found instanceof Promise) return found.then((late) => setAuthentication(request, late));
    setAuthentication(request, found);
    return undefined;
  }

  /** @param context as of a reader */
  find(request: HttpRequest, context?: ExecutionContext): Authentication | Promise<Authentication> {
    const { wasSent, token } = bearerOf(request);
    try {
      return this.ask(request, { bearerWasSent: wasSent, token }, context);
    } catch {
      // A token that cannot be read authenticates nobody.
      return { bearerWasSent: true };
    }
  }

  /** Replaces what the token says by what the database says now. */
  async reloadUser(request: HttpRequest): Promise<void> {
    const known: Identified | undefined = authenticationOf(request);
    if (!known?.principal || known.isComplete) return;
    const stored = await this.credentials.reload(known);
    // A plugin may accept the token for the role that it names only.
    const roles = stored.principal?.roles.join() ?? known.principal.roles.join();
    const isChanged = stored.bearerWasSent && !stored.isKey && roles !== known.principal.roles.join();
    setStoredUser(request, isChanged ? await this.ask(request, stored) : stored);
  }

  private ask(
    request: HttpRequest,
    start: Identified,
    context?: ExecutionContext,
  ): Authentication | Promise<Authentication> {
    let known = start;
    const checks: Promise<Identified>[] = [];
    for (const reader of this.credentials.readers) {
      const found = reader.read(request, known, context);
      if (found instanceof Promise) checks.push(found);
      else if (found) known = found;
      if (known.isComplete || (found && reader.ownsTokens && known.token !== undefined)) break;
    }
    return checks.length > 0 ? this.combine(known, checks) : known;
  }

  /** A bearer token decides alone: a check can confirm or refuse it, or know a token that the package did not sign. */
  private async combine(known: Identified, checks: readonly Promise<Identified>[]): Promise<Authentication> {
    const all = await Promise.all(checks);
    const { bearerWasSent } = known;
    const failed = all.find(({ failure }) => failure);
    if (failed) return failed;
    if (known.principal) return all.every(({ principal }) => principal) ? known : { bearerWasSent };
    const found = all.find((each) => each.principal && each.bearerWasSent === bearerWasSent);
    if (found?.isComplete) return found;
    // A malformed header has no token that a reader could know.
    if (!found?.principal || (bearerWasSent && known.token === undefined)) return known;
    return this.credentials.reload({ ...known, isKey: found.isKey === true, principal: found.principal });
  }
}

/** Where it fails, it is not known whether a credential is valid: the request is 503 where it needs one. */
export function guardedLookup(
  what: string,
  work: () => Promise<Identified>,
  answer = 'The database is temporarily unavailable, try again',
): Promise<Identified> {
  return work().catch((cause: unknown): Identified => {
    if (cause instanceof ServiceUnavailable) return { bearerWasSent: true, failure: cause };
    new Logger('SecurityRules').error(`${what} could not be read.`, cause instanceof Error ? cause.stack : cause);
    return { bearerWasSent: true, failure: new ServiceUnavailable(answer, 5, { cause }) };
  });
}
