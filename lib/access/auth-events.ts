/** What happens to accounts, and what access rules refuse, for logs and audits of the application. */
import { Injectable, Logger } from '@nestjs/common';
import { notify } from '../http/failure.js';
import { currentRequest, type Traced } from '../request-ids/request-ids.js';

interface UserEvent {
  /** The id of the user as text. */
  readonly userId: string;
}

interface SessionEvent extends UserEvent {
  readonly sessionId: string;
}

interface AttemptEvent {
  /** The e-mail address or username as sent. No user need have it. */
  readonly login: string;
  readonly address: string | undefined;
}

/** The events by name, with what each says. None of them contains a password, a token, or a hash. */
export interface AuthEventMap {
  'user.registered': UserEvent;
  'user.changed': UserEvent & { readonly fields: readonly string[] };
  'user.deleted': UserEvent;
  'login.succeeded': UserEvent & Pick<AttemptEvent, 'address'>;
  'login.failed': AttemptEvent;
  'attempts.refused': { readonly action: string } & Pick<AttemptEvent, 'address'>;
  'session.started': SessionEvent;
  'session.ended': UserEvent & { readonly sessionId?: string; readonly count: number };
  /** A refresh token was used again after it was spent. The session has ended. */
  'session.reused': SessionEvent & Pick<AttemptEvent, 'address'>;
  'password.changed': UserEvent;
  'password.forgotten': UserEvent;
  'email.verified': UserEvent;
  'email.changed': UserEvent;
  /** An access rule has refused a request (401, 403). At most once a second for each rule, user and address. */
  'access.refused': Pick<AttemptEvent, 'address'> & {
    /** As the access table says it, such as `ShopSecurity.requireRole("ADMIN", "/api/admin/**")`; or `default`. */
    readonly rule: string;
    /** `undefined` without a valid token. */
    readonly userId: string | undefined;
  };
}

export type AuthEventName = keyof AuthEventMap;
export type AuthEvent<N extends AuthEventName> = AuthEventMap[N] & Traced & { readonly name: N; readonly at: Date };
export type AuthListener<N extends AuthEventName> = (event: AuthEvent<N>) => void | Promise<void>;

/**
 * Calls listeners of the application when something happens to an account, or a rule refuses access. A listener runs after
 * the fact and cannot prevent it; its errors are logged.
 * @example events.on('session.reused', ({ userId, address }) => log.write(`Stolen token of ${userId}`, address));
 */
@Injectable()
export class AuthEvents {
  private readonly logger = new Logger('AuthModule');
  private readonly listeners = new Map<string, Set<(event: never) => void | Promise<void>>>();

  /** @returns a function that removes the listener */
  on<N extends AuthEventName>(name: N, listener: AuthListener<N>): () => void {
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(listener as (event: never) => void));
    return () => void listeners.delete(listener as (event: never) => void);
  }

  /** Calls the listeners of an event. It returns at once, and never throws. */
  emit<N extends AuthEventName>(name: N, facts: AuthEventMap[N]): void {
    const event = () => ({ name, at: new Date(), ...currentRequest(), ...facts });
    for (const listener of this.listeners.get(name) ?? [])
      void notify(`A listener of ${name}`, () => listener(event() as never), this.logger);
  }
}
