/** Talks to one provider, by the package `openid-client`. */
import { Logger, UnauthorizedException } from '@nestjs/common';
import * as openid from 'openid-client';
import type { ClientAuth, Configuration } from 'openid-client';
import { ServiceUnavailable } from 'declarest/plugin';
import { boundedFetch, unavailable, unavailableIn } from './bounded-fetch.js';
import { profileOf } from './external-profile.js';
import { GITHUB_SCOPE, githubMetadata, readGithubUser } from './github.js';
import type { ExternalProfile, ProviderSettings } from './oidc-options.js';

const TIMEOUT_SECONDS = 5;
const GITHUB_HEADERS = { accept: 'application/vnd.github+json', 'user-agent': 'declarest' };

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** SHA-256 of the verifier (RFC 7636). */
  readonly challenge: string;
}

export const loginFailed = (): UnauthorizedException => new UnauthorizedException('The login at the provider failed');

export class ProviderClient {
  private readonly logger = new Logger('AuthModule');
  private configured: Promise<Configuration> | undefined;
  private isAway = false;

  constructor(readonly settings: ProviderSettings) {}

  /** The address at the provider where the user logs in. @throws ServiceUnavailable (503) */
  async authorizationUrl({ redirectUri, state, nonce, challenge }: AuthorizationRequest): Promise<string> {
    const configuration = await this.configuration();
    const { href } = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...(this.isGithub ? { scope: GITHUB_SCOPE } : { scope: 'openid email profile', nonce }),
    });
    return href;
  }

  /**
   * Exchanges the code of the response for tokens, which stay here.
   * @param url where the provider has sent the user back, with the response @throws 401, and 503 where the provider is away
   */
  async readProfile(
    url: URL,
    { state, nonce, verifier }: { readonly state: string; readonly nonce: string; readonly verifier: string },
  ): Promise<ExternalProfile> {
    const configuration = await this.configuration();
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    try {
      const profile = this.isGithub
        ? await this.readFromGithub(configuration, url, checks)
        : await this.readFromTokens(configuration, url, { ...checks, expectedNonce: nonce });
      this.isAway = false;
      if (profile) return profile;
    } catch (error) {
      throw this.failureOf(error);
    }
    throw loginFailed();
  }

  private get isGithub(): boolean {
    return this.settings.type === 'github';
  }

  private async readFromTokens(configuration: Configuration, url: URL, checks: object) {
    const tokens = await openid.authorizationCodeGrant(configuration, url, { ...checks, idTokenExpected: true });
    const claims = tokens.claims();
    if (!claims) return undefined;
    const { settings } = this;
    if (claims['email'] !== undefined || !configuration.serverMetadata().userinfo_endpoint)
      return profileOf(settings, claims.iss, claims);
    const userInfo = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    // The same answer must have the address and say that it is verified.
    return profileOf(settings, claims.iss, { ...claims, [settings.verifiedClaim]: undefined, ...userInfo });
  }

  private async readFromGithub(configuration: Configuration, url: URL, checks: object) {
    const { access_token: token } = await openid.authorizationCodeGrant(configuration, url, checks);
    const { issuer } = this.settings;
    const get = (address: string): Promise<Response> =>
      openid.fetchProtectedResource(configuration, token, new URL(address), 'GET', null, new Headers(GITHUB_HEADERS));
    return profileOf({ ...this.settings, verifiedClaim: 'email_verified' }, issuer, await readGithubUser(issuer, get));
  }

  /** Reads the discovery document at the first use, and again after a failure. @throws ServiceUnavailable (503) */
  private configuration(): Promise<Configuration> {
    this.configured ??= this.discover().catch((error: unknown) => {
      this.configured = undefined;
      throw this.away(error);
    });
    return this.configured;
  }

  private async discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.settings;
    const address = new URL(issuer);
    const authenticate = this.authentication();
    // Options allow http on loopback addresses only.
    const extensions = address.protocol === 'http:' ? [openid.allowInsecureRequests] : [];
    if (!this.isGithub)
      return openid.discovery(address, clientId, clientSecret, authenticate, {
        [openid.customFetch]: boundedFetch,
        timeout: TIMEOUT_SECONDS,
        // The signature of ID tokens is checked too, and not only TLS.
        execute: [openid.enableNonRepudiationChecks, ...extensions],
      });
    const configuration = new openid.Configuration(githubMetadata(issuer), clientId, clientSecret, authenticate);
    configuration[openid.customFetch] = boundedFetch;
    configuration.timeout = TIMEOUT_SECONDS;
    for (const extend of extensions) extend(configuration);
    return configuration;
  }

  /** How the client authenticates: by the body where the provider takes that, and by `Authorization: Basic` otherwise, the default of RFC 8414. */
  private authentication(): ClientAuth {
    const { clientSecret } = this.settings;
    const byBody = openid.ClientSecretPost(clientSecret);
    const byHeader = openid.ClientSecretBasic(clientSecret);
    return (server, ...rest) => {
      const takesBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
      (takesBody ? byBody : byHeader)(server, ...rest);
    };
  }

  /** A wrong client id or secret is ours to correct, and no fault of the user. */
  private failureOf(error: unknown): Error {
    const { AuthorizationResponseError, ResponseBodyError } = openid;
    if (error instanceof AuthorizationResponseError) return loginFailed();
    if (error instanceof ResponseBodyError)
      return error.error === 'invalid_grant' ? loginFailed() : this.away(new Error(`it answered ${error.error}`));
    if (unavailableIn(error)) return this.away(error);
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    this.logger.warn(`The provider ${this.settings.name} sent an answer that is refused: ${String(code ?? message)}.`);
    return loginFailed();
  }

  private away(error: unknown): ServiceUnavailable {
    const failure = unavailableIn(error) ?? unavailable(error);
    const { message, code } = (failure.cause ?? {}) as { readonly message?: unknown; readonly code?: unknown };
    const reason = String(message || code);
    if (!this.isAway) this.logger.warn(`Logins at the provider ${this.settings.name} are answered with 503: ${reason}`);
    this.isAway = true;
    return failure;
  }
}
