import { Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { InvalidCredentials } from './auth-failure.filter.js';
import { Passwords } from './passwords.js';
import { InvalidUserError, normaliseEmail, PASSWORD_MOST_BYTES, USER_CHECKS } from './user-checks.js';
import { UserRepository } from './user.repository.js';

/** Tells who logs in, or refuses in one way: neither body nor time says whether the user, the password or both were wrong. */
@Injectable()
export class Login {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /**
   * @throws InvalidUserError where a field is missing or no text
   * @throws InvalidCredentials
   * @throws ServerBusy
   */
  async login(body: Readonly<Record<string, unknown>>): Promise<AuthUser> {
    const { loginField } = this.options;
    const { [loginField]: name, password } = body;
    if (typeof name !== 'string' || typeof password !== 'string') {
      const wrong = Object.entries({ [loginField]: name, password }).filter(([, value]) => typeof value !== 'string');
      throw new InvalidUserError(
        wrong.map(([field, value]) => `${field}: ${value == null ? 'required' : 'expected text'}`),
      );
    }
    const user = await this.find(loginField === 'email' ? normaliseEmail(name) : name);
    const matches = await this.passwords.matches(password, user?.password);
    // Of an over-long password bcrypt would compare the beginning only.
    if (!user || !matches || Buffer.byteLength(password) > PASSWORD_MOST_BYTES || !user.active)
      throw new InvalidCredentials();
    return user;
  }

  /** What can be no user's login is not asked of the database. */
  private async find(login: string): Promise<AuthUser | null> {
    const { loginField } = this.options;
    const check = USER_CHECKS[loginField]?.(login) ?? {};
    return 'value' in check ? this.users.findByLogin(loginField, login) : null;
  }
}
