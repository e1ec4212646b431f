import { HttpException, Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { Passwords } from './passwords.js';
import { fitsBcrypt, InvalidUserError, normalizeEmail, USER_CHECKS } from './user-checks.js';
import { UserRepository } from './user.repository.js';

/** 401, the same for an unknown user, a wrong password and an inactive user. */
export class InvalidCredentials extends HttpException {
  constructor() {
    super('Invalid credentials', 401);
  }
}

/** Verifies credentials. Neither the response nor its time tells which part of the credentials was wrong. */
@Injectable()
export class Login {
  constructor(
    private readonly users: UserRepository,
    private readonly passwords: Passwords,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /**
   * @throws InvalidUserError when a field is missing or not well-formed text
   * @throws InvalidCredentials
   * @throws ServerBusy
   */
  async login(body: Readonly<Record<string, unknown>>): Promise<AuthUser> {
    const { loginField } = this.options;
    const { [loginField]: login, password } = body;
    if (!isText(login) || !isText(password))
      throw new InvalidUserError(
        Object.entries({ [loginField]: login, password })
          .filter(([, value]) => !isText(value))
          .map(([field, value]) => `${field}: ${value == null ? 'required' : 'expected well-formed text'}`),
      );
    const user = await this.find(loginField === 'email' ? normalizeEmail(login) : login);
    const matches = await this.passwords.matches(password, user?.password);
    // bcrypt compares only the beginning of an over-long password.
    if (!user || !matches || !fitsBcrypt(password) || !user.active) throw new InvalidCredentials();
    return user;
  }

  /** Skips the query for a login that no user can have. */
  private async find(login: string): Promise<AuthUser | null> {
    const { loginField } = this.options;
    return 'value' in USER_CHECKS[loginField](login) ? this.users.findByLogin(loginField, login) : null;
  }
}

/** Lone surrogates are refused, because different passwords with them would have the same hash. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();
