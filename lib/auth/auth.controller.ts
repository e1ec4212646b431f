import { Controller, Get, Header, HttpCode, Inject, Post, UseFilters, UseGuards, type Type } from '@nestjs/common';
import { JsonBody, type JsonObject } from '../http/json-body.js';
import { AuthenticationRequired } from '../http/refusal.js';
import { UnreadableBodyGuard } from '../routes/unreadable-body.js';
import { declareRoute, type DeclaredRoute } from '../routes/declared-route.js';
import { CurrentUser, type Principal } from '../access/principal.js';
import { AuthFailureFilter } from './auth-failure.filter.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from './auth.options.js';
import type { AuthUser } from './auth-user.js';
import { Login } from './login.js';
import { Registration } from './registration.js';
import { Tokens } from './tokens.js';
import { UserRepository } from './user.repository.js';

interface Answer<T> {
  readonly success: true;
  readonly message?: string;
  readonly data: T;
}

/** As JSON: absent fields are `null`. */
type Fields<K extends keyof AuthUser> = Record<K, unknown>;
type LoggedIn = Fields<'id' | 'email' | 'username' | 'role'>;
type Profile = Fields<'id' | 'email' | 'username' | 'firstName' | 'lastName' | 'role' | 'active'>;

/** The endpoints of the users. A class for each call: two applications in one process have two base paths. */
export function authController({ authBasePath, registration }: ResolvedStaticOptions): Type<unknown> {
  @Controller(authBasePath)
  @UseGuards(UnreadableBodyGuard)
  @UseFilters(AuthFailureFilter)
  class AuthController {
    constructor(
      private readonly registration: Registration,
      private readonly logins: Login,
      private readonly users: UserRepository,
      private readonly tokens: Tokens,
      @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    ) {}

    @Header('Cache-Control', 'no-store')
    async register(@JsonBody() body: JsonObject): Promise<Answer<{ user: Profile; token: string }>> {
      const user = await this.registration.register(body);
      return {
        success: true,
        message: 'Registration successful',
        data: { user: this.profileOf(user), token: await this.tokenOf(user) },
      };
    }

    @Post('login')
    @HttpCode(200)
    @Header('Cache-Control', 'no-store')
    async login(@JsonBody() body: JsonObject): Promise<Answer<{ user: LoggedIn; token: string }>> {
      const user = await this.logins.login(body);
      const { id, email, username, role } = this.profileOf(user);
      return {
        success: true,
        message: 'Login successful',
        data: { user: { id, email, username, role }, token: await this.tokenOf(user) },
      };
    }

    /** Asks the database: who was deleted or made inactive since the token was signed is nobody. */
    @Get('me')
    async me(@CurrentUser() principal: Principal | undefined): Promise<Answer<{ user: Profile }>> {
      const user = principal && (await this.users.findById(String(principal.id)));
      if (!user?.active) throw new AuthenticationRequired(principal !== undefined);
      return { success: true, data: { user: this.profileOf(user) } };
    }

    private profileOf({ id, email, username, firstName, lastName, role, active }: AuthUser): Profile {
      return {
        id: this.options.idOf(String(id)),
        email: email ?? null,
        username: username ?? null,
        firstName: firstName ?? null,
        lastName: lastName ?? null,
        role,
        active,
      };
    }

    private async tokenOf({ id, email, role }: AuthUser): Promise<string> {
      return this.tokens.sign({ sub: String(id), email: email ?? '', roles: [role] });
    }
  }

  const { register, login, me } = AuthController.prototype;
  if (registration)
    Post('register')(
      AuthController.prototype,
      'register',
      Object.getOwnPropertyDescriptor(AuthController.prototype, 'register') as never,
    );
  const declare = (method: object, access: DeclaredRoute['access'] & string): void =>
    declareRoute(method, { declaredBy: 'AuthModule option `authBasePath`', access });
  declare(register, 'public');
  declare(login, 'public');
  declare(me, 'authenticated');
  return AuthController;
}
