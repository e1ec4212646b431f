import { Controller, Get, Header, HttpCode, Inject, Post, UseFilters, type Type } from '@nestjs/common';
import { failureFilter } from '../http/failure.js';
import { JsonBody, type JsonObject } from '../http/json-body.js';
import { AuthenticationRequired } from '../http/refusal.js';
import { declareRoute, type DeclaredRoute } from '../routes/declared-route.js';
import { CurrentUser } from '../access/current-user.js';
import type { Principal } from '../http/principal.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { login } from './login.js';
import { Registration } from './registration.js';
import { Tokens } from './tokens.js';
import { UserRepository } from './user.repository.js';

/** Declares the access of an endpoint. A rule of the application for the same path replaces it. */
const DefaultAccess =
  (access: DeclaredRoute['access'] & string): MethodDecorator =>
  (_target, _name, { value }) =>
    declareRoute(value as object, { declaredBy: 'AuthModule option `authBasePath`', access });

const AuthFailureFilter = failureFilter(({ message }) => ({ success: false, message }));

/** Creates the controller of the auth endpoints. Each call creates a class, because routes are metadata of the class. */
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
      const user = await login(body, this.options, this.users);
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

    /** Absent fields are `null`. */
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
