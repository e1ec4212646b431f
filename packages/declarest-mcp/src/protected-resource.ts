/** The endpoint as a resource that OAuth protects. */
import type { ResolvedOptions } from './options.js';

/** Protected resource metadata (RFC 9728 §2). */
export const metadataOf = ({ url, authorizationServers }: ResolvedOptions, name: string | undefined) => ({
  resource: url,
  ...(authorizationServers.length > 0 && { authorization_servers: authorizationServers }),
  bearer_methods_supported: ['header'],
  ...(name !== undefined && { resource_name: name }),
});

/** `WWW-Authenticate` (RFC 6750 §3, RFC 9728 §5.1). @param tokenWasSent whether the token was refused */
export const challengeOf = ({ metadataUrl }: ResolvedOptions, tokenWasSent: boolean): string =>
  `Bearer ${tokenWasSent ? 'error="invalid_token", ' : ''}resource_metadata="${metadataUrl}"`;

/** Whether a token that the application has verified is for this resource, or names none (RFC 7519 §4.1.3). */
export function isForAudience(authorization: string | undefined, audience: string): boolean {
  const [, payload] = authorization?.split('.') ?? [];
  if (payload === undefined) return true;
  try {
    const { aud } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { readonly aud?: unknown };
    return aud === undefined || [aud].flat().includes(audience);
  } catch {
    // A token of another form names no audience.
    return true;
  }
}
