/** Logins from their begin to their end: what a client sends to a provider, and what it brings back. */
import { createHash } from 'node:crypto';
import { Inject, Injectable, NotFoundException } from '@nestjs/common';
import { InvalidUserError } from 'declarest';
import { newToken, OneTimeTokens } from 'declarest/plugin';
import { type ExternalProfile, OIDC_SETTINGS, type OidcSettings } from './oidc-options.js';
import { loginFailed, ProviderClient } from './provider-client.js';

const LIFETIME_MS = 10 * 60 * 1000;

const PURPOSE = 'oidc';

/** A login at a provider that has begun. Its token is the `state`. */
interface LoginFlow {
  readonly provider: string;
  /** SHA-256 of the verifier that only the client has which began the login. */
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** RFC 7636 §4.2. The row has it in place of the verifier, so that a leaked table finishes no login. */
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

export interface BegunLogin {
  /** Where the client sends the user. */
  readonly url: string;
  /** The client keeps it, and sends it with the response: whoever has not begun the login cannot finish it. */
  readonly verifier: string;
}

@Injectable()
export class LoginFlows {
  private readonly clients: ReadonlyMap<string, ProviderClient>;

  constructor(
    private readonly tokens: OneTimeTokens,
    @Inject(OIDC_SETTINGS) { providers }: OidcSettings,
  ) {
    this.clients = new Map([...providers].map(([name, each]) => [name, new ProviderClient(each)]));
  }

  /**
   * @param sentUri one of the declared `redirectUris`; the first one where it is `undefined`
   * @param userId the user who links an identity; `null` for a login @throws 400, 404, 503
   */
  async begin(name: string, sentUri: string | undefined, userId: string | null): Promise<BegunLogin> {
    const client = this.clients.get(name);
    if (!client) throw new NotFoundException(`Provider with id ${name} not found`);
    const { redirectUris } = client.settings;
    const redirectUri = redirectUris.find((uri) => sentUri === undefined || uri === sentUri);
    if (redirectUri === undefined)
      throw new InvalidUserError(['redirectUri: expected one of the addresses that the application declares']);
    const [nonce, verifier] = [newToken(), newToken()];
    const challenge = challengeOf(verifier);
    const data: LoginFlow = { provider: name, challenge, nonce, redirectUri };
    const state = await this.tokens.create(PURPOSE, { userId: userId ?? '', lifetimeMs: LIFETIME_MS, data });
    const url = await client.authorizationUrl({ redirectUri, state, nonce, challenge });
    return { url, verifier };
  }

  /**
   * Finishes a login that the same client has begun, once.
   * @param sent where the provider has sent the user back, with the whole query @throws 400, 401, 503
   */
  async finish(sent: string, verifier: string, userId: string | null): Promise<ExternalProfile> {
    if (!URL.canParse(sent))
      throw new InvalidUserError(['url: expected the address that the provider has sent back to']);
    const url = new URL(sent);
    const state = url.searchParams.get('state') ?? '';
    const found = await this.tokens.find<LoginFlow>(state, PURPOSE);
    const flow = found?.data;
    const client = flow && this.clients.get(flow.provider);
    const isOwn = flow?.challenge === challengeOf(verifier) && found?.userId === (userId ?? '');
    // The answer of another provider would arrive at another address (RFC 9700 §4.4.2).
    const isThere = sent.split('?')[0] === flow?.redirectUri && url.hash === '';
    if (!client || !isOwn || !isThere || !found || !(await this.tokens.spend(found))) throw loginFailed();
    return client.readProfile(url, { state, nonce: flow.nonce, verifier });
  }

  removeAll(userId: string): Promise<void> {
    return this.tokens.removeAll(userId, PURPOSE);
  }
}
