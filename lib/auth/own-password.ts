/** The password that a user must repeat before a change that a stolen token alone must not allow. */
import { Inject, Injectable, UnauthorizedException } from '@nestjs/common';
import type { Principal } from '../http/principal.js';
import { AuthenticationRequired } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { Accounts } from './accounts.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { clientFactsOf } from './client-facts.js';
import { Attempts } from './throttle/attempts.js';
import { UserRepository } from './user.repository.js';

@Injectable()
export class OwnPassword {
  constructor(
    private readonly users: UserRepository,
    private readonly accounts: Accounts,
    private readonly attempts: Attempts,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /** @throws 401 for a wrong password and an inactive user, 429 */
  async expect({ id }: Principal, password: string, request: HttpRequest): Promise<AuthUser> {
    const user = await this.users.findById(String(id));
    if (!user?.active) throw new AuthenticationRequired(true);
    const { address } = clientFactsOf(request);
    const account = user[this.options.loginField] ?? String(id);
    return this.attempts.run({ action: 'password', account, address }, async () => {
      const found = await this.accounts.verifyPassword(String(id), password);
      if (!found) throw new UnauthorizedException('Invalid credentials');
      return found;
    });
  }
}
