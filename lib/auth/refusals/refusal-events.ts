/** Emits the event `access.refused`. */
import { Injectable } from '@nestjs/common';
import { authenticationOf } from '../../access/principal.js';
import type { RefusalObserver } from '../../access/security-rules.guard.js';
import { BoundedMap } from '../../database/bounded-map.js';
import type { HttpRequest } from '../../http/http-request.js';
import { clientInfoOf } from '../throttle/client-info.js';
import { AuthEvents } from '../users/auth-events.js';

declare module '../users/auth-events.js' {
  interface AuthEventMap {
    /** An access rule has refused a request (401, 403). At most once a second for each rule, user and address. */
    'access.refused': {
      /** As the access table says it, such as `ShopSecurity.requireRole("ADMIN", "/api/admin/**")`; or `default`. */
      readonly rule: string;
      /** `undefined` without a valid token. */
      readonly userId: string | undefined;
      readonly address: string | undefined;
    };
  }
}

const INTERVAL_MS = 1_000;
/** Clients choose users and addresses. Where one of the oldest is dropped, its next refusal is emitted at once. */
const MAX_REMEMBERED = 10_000;

@Injectable()
export class RefusalEvents implements RefusalObserver {
  private readonly emitted = new BoundedMap<{ at: number }>(MAX_REMEMBERED);

  constructor(private readonly events: AuthEvents) {}

  refused(rule: string, request: HttpRequest): void {
    const id = authenticationOf(request)?.principal?.id;
    const userId = id === undefined ? undefined : String(id);
    const { address } = clientInfoOf(request);
    const last = this.emitted.get(JSON.stringify([rule, userId, address]), () => ({ at: -Infinity }));
    const now = Date.now();
    if (Math.abs(now - last.at) < INTERVAL_MS) return;
    last.at = now;
    this.events.emit('access.refused', { rule, userId, address });
  }
}
