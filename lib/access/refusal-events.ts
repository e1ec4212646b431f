/** Emits the event `access.refused`: for each 401 and 403 of the access rules, and each 404 in their place. */
import { Injectable } from '@nestjs/common';
import { BoundedMap } from '../http/bounded-map.js';
import { authenticationOf } from '../http/caller.js';
import { clientInfoOf } from '../http/client-info.js';
import type { HttpRequest } from '../http/http-request.js';
import { contexts } from '../http/request-context.js';
import { AuthEvents } from './auth-events.js';

const INTERVAL_MS = 1_000;
/** Clients choose users and addresses. Where one of the oldest is dropped, its next refusal is emitted at once. */
const MAX_REMEMBERED = 10_000;

@Injectable()
export class RefusalEvents {
  private readonly emitted = new BoundedMap<{ at: number }>(MAX_REMEMBERED);

  constructor(private readonly events: AuthEvents) {}

  /** @param rule the one that refuses, or `default` */
  refused(rule: string, request: HttpRequest): void {
    const userId = authenticationOf(request)?.principal?.id.toString();
    const { address } = clientInfoOf(request);
    const last = this.emitted.get(JSON.stringify([rule, userId, address]), () => ({ at: -Infinity }));
    const now = Date.now();
    if (Math.abs(now - last.at) < INTERVAL_MS) return;
    last.at = now;
    contexts.run({ request }, () => this.events.emit('access.refused', { rule, userId, address }));
  }
}
