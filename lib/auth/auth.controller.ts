import { Controller, Get, Header, HttpCode, Inject, Post, UnauthorizedException, UseFilters } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { failureFilter } from '../http/failure.js';
import { JsonBody, type JsonObject } from '../http/json-body.js';
import { AuthenticationRequired } from '../http/refusal.js';
import { declareRoute, type DeclaredRoute } from '../routes/declared-route.js';
import { CurrentUser } from '../access/principal.js';
import type { Principal } from '../http/principal.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { isPassword } from './passwords.js';
import { Registration } from './registration.js';
import { Tokens } from './tokens.js';
import { fitsBcrypt, InvalidUserError, USER_CHECKS } from './user-checks.js';
import { UserRepository } from './user.repository.js';

const DefaultAccess =
  (access: DeclaredRoute['access'] & string): MethodDecorator =>
  (_target, _name, { value }) =>
    declareRoute(value as object, { declaredBy: 'AuthModule option `authBasePath`', access });

const AuthFailureFilter = failureFilter(({ message, members }) => ({ ...members, success: false, message }));

/** Each call creates a class, because routes are metadata of the class. */
export function authController({ authBasePath, registration }: ResolvedStaticOptions): Type<unknown> {
  const RegisterRoute: MethodDecorator = registration ? Post('register') : () => undefined;

  @Controller(authBasePath)
  @UseFilters(AuthFailureFilter)
  class AuthController {
    constructor(
      private readonly registration: Registration,
      private readonly users: UserRepository,
      private readonly tokens: Tokens,
      @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    ) {}

    @DefaultAccess('public')
    @RegisterRoute
    @Header('Cache-Control', 'no-store')
    async register(@JsonBody() body: JsonObject) {
      const user = await this.registration.register(body);
      return this.withToken('Registration successful', user, this.profileOf(user));
    }

    @DefaultAccess('public')
    @Post('login')
    @HttpCode(200)
    @Header('Cache-Control', 'no-store')
    async login(@JsonBody() body: JsonObject) {
      const user = await verifyCredentials(body, this.options, this.users);
      const { id, email, username, role } = this.profileOf(user);
      return this.withToken('Login successful', user, { id, email, username, role });
    }

    /** Reads the user from the database, so that deleted and inactive users get 401 before their token expires. */
    @DefaultAccess('authenticated')
    @Get('me')
    async me(@CurrentUser() principal: Principal | undefined) {
      const user = principal && (await this.users.findById(String(principal.id)));
      if (!user?.active) throw new AuthenticationRequired(principal !== undefined);
      return { success: true, data: { user: this.profileOf(user) } };
    }

    private profileOf({ id, email, username, firstName, lastName, role, active }: AuthUser) {
      return {
        id: this.options.parseId(String(id)),
        email: email ?? null,
        username: username ?? null,
        firstName: firstName ?? null,
        lastName: lastName ?? null,
        role,
        active,
      };
    }

    private withToken(message: string, { id, email, role }: AuthUser, user: object) {
      const token = this.tokens.sign({ sub: String(id), email: email ?? '', roles: [role] });
      return { success: true, message, data: { user, token } };
    }
  }

  return AuthController;
}

/** Neither the response nor its time reveals which part of the credentials was wrong. */
async function verifyCredentials(
  body: JsonObject,
  { loginField, bcryptRounds }: ResolvedAuthOptions,
  users: UserRepository,
): Promise<AuthUser> {
  const { [loginField]: name, password } = body;
  if (!isText(name) || !isText(password))
    throw new InvalidUserError(
      Object.entries({ [loginField]: name, password })
        .filter(([, value]) => !isText(value))
        .map(([field, value]) => `${field}: ${value == null ? 'required' : 'expected well-formed text'}`),
    );
  // A name that no user can have needs no query.
  const checked = USER_CHECKS[loginField](name);
  const user = 'value' in checked ? await users.findByLogin(loginField, checked.value as string) : null;
  const matches = await isPassword(password, user?.password, bcryptRounds);
  // bcrypt compares only the beginning of an over-long password.
  if (!user?.active || !matches || !fitsBcrypt(password)) throw new UnauthorizedException('Invalid credentials');
  return user;
}

/** Lone surrogates are refused, because different passwords with them would have the same hash. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();
