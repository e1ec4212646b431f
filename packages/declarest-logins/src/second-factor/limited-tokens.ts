/** `required`: tokens of such a role, without a second factor, are good for its enrolment only. */
import { Inject, Injectable } from '@nestjs/common';
import type { HttpRequest } from 'declarest';
import {
  AccessRefused,
  Application,
  type Authentication,
  BASE_ROLE,
  CallerRoles,
  declaredRoute,
  governedMethod,
  pathOf,
} from 'declarest/plugin';
import { FACTOR_SETTINGS, type FactorSettings } from './factor-settings.js';
import { hasGivenFactor } from './given-factor.js';

/** The endpoints of accounts that such a token opens, and those where passkeys are factors. */
const OPEN = ['me', 'logout', 'enrolFactor', 'confirmFactor'];
const OPEN_WITH_PASSKEYS = [...OPEN, 'startPasskey', 'addPasskey'];

@Injectable()
export class LimitedTokens {
  constructor(
    private readonly application: Application,
    @Inject(FACTOR_SETTINGS) private readonly settings: FactorSettings,
  ) {
    for (const role of settings.required) application.stateOf(CallerRoles).ofOptions.add(role);
  }

  /** @returns `undefined` where the token is good enough */
  refusalOf({ principal, login }: Authentication, request: HttpRequest): Authentication | undefined {
    if (!principal || hasGivenFactor(login) || !this.isRequired(principal.roles)) return undefined;
    // Only the one spelling of a path that the route table has.
    const asked = `${governedMethod(request.method)} ${pathOf(request)}`;
    if (this.application.once(openRoutes).has(asked)) return undefined;
    return { bearerWasSent: true, failure: new AccessRefused(['second factor']) };
  }

  private isRequired(roles: readonly string[]): boolean {
    const { expand } = this.application.stateOf(CallerRoles);
    const all = [BASE_ROLE, ...(expand?.(roles) ?? roles)];
    return this.settings.required.some((role) => all.includes(role));
  }
}

function openRoutes({ routeTable }: Application): ReadonlySet<string> {
  const own = routeTable.controllerRoutes.flatMap(({ handler, method, path }) => {
    const { name = '' } = (handler ?? {}) as { readonly name?: string };
    const isOfAccounts = declaredRoute(handler)?.declaredBy.includes('authBasePath') === true;
    return isOfAccounts ? [{ name, route: `${method} ${path}` }] : [];
  });
  const open = own.some(({ name }) => name === 'answerChallengeByPasskey') ? OPEN_WITH_PASSKEYS : OPEN;
  return new Set(own.filter(({ name }) => open.includes(name)).map(({ route }) => route));
}
