/** Refusals of access, whose bodies have the one member `error` (contract 3.2). */
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';

const REQUIRED = 'Authentication required';

/** 401 with the contract's exact body, and the challenge that RFC 9110 §15.5.2 requires. */
export class AuthenticationRequired extends UnauthorizedException {
  /** The `WWW-Authenticate` header. RFC 6750 §3: `error="invalid_token"` only where a Bearer token was sent. */
  readonly challenge: string;

  constructor(bearerWasSent: boolean) {
    super({ error: REQUIRED });
    this.message = REQUIRED;
    this.challenge = bearerWasSent ? 'Bearer error="invalid_token"' : 'Bearer';
  }
}

/** 401: the token is valid, and the client asks the user to log in again (step-up authentication, RFC 9470). */
export class StepUpRequired extends AuthenticationRequired {
  override readonly challenge: string;

  /** @param maxAgeSeconds how old the login may be; any finite number is told to the client */
  constructor(description: string, maxAgeSeconds: number) {
    super(true);
    const maxAge = Number.isFinite(maxAgeSeconds) ? `, max_age="${maxAgeSeconds}"` : '';
    this.challenge = `Bearer error="insufficient_user_authentication", error_description="${description}"${maxAge}`;
  }
}

/**
 * 403: `SUPPORT_AGENT` → `{error: "Support agent access required"}`. Several roles are joined by "or". Without a role,
 * nobody has access: `{error: "Access denied"}`.
 */
export class AccessRefused extends ForbiddenException {
  constructor(missing: readonly string[] = []) {
    const words = missing.map((name) => name.replaceAll('_', ' ').toLowerCase()).join(' or ');
    const error = words === '' ? 'Access denied' : `${words.charAt(0).toUpperCase()}${words.slice(1)} access required`;
    super({ error });
    this.message = error;
  }
}
