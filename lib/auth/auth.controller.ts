import { Get, HttpCode, Inject, Optional, Post, Req } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { JsonBody, type JsonObject } from '../http/json-body.js';
import { AuthenticationRequired } from '../http/refusal.js';
import { CurrentUser } from '../access/principal.js';
import type { Principal } from '../http/principal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { AuthEvents } from './auth-events.js';
import { AuthController, DefaultAccess, NoStore, when } from './auth-route.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from './auth.options.js';
import { clientFactsOf } from './client-facts.js';
import { Logins } from './logins.js';
import { MailedLinks } from './passwords/mailed-links.js';
import { profileOf } from './auth-user.js';
import { Registration } from './registration.js';
import { Attempts } from './throttle/attempts.js';
import { UserRepository } from './user.repository.js';

const VERIFY = 'Registration successful. Confirm the e-mail address by the link in the mail, then log in';

/** Each call creates a class, because routes are metadata of the class. */
export function authController({ authBasePath, registration }: ResolvedStaticOptions): Type<unknown> {
  @AuthController(authBasePath)
  class AccountController {
    constructor(
      private readonly registration: Registration,
      private readonly users: UserRepository,
      private readonly logins: Logins,
      private readonly events: AuthEvents,
      private readonly attempts: Attempts,
      @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
      @Optional() private readonly links?: MailedLinks,
    ) {}

    @DefaultAccess('public')
    @when(registration, Post('register'))
    @NoStore()
    async register(@JsonBody() body: JsonObject, @Req() request: HttpRequest) {
      const { address } = clientFactsOf(request);
      const created = await this.attempts.run({ action: 'register', address }, () => this.registration.register(body));
      const user = profileOf(created, this.options);
      if (this.options.requireVerified) {
        this.events.emit('user.registered', { userId: String(created.id) });
        this.links?.welcome(created, address);
        return { success: true, message: VERIFY, data: { user } };
      }
      const tokens = await this.logins.welcome(created, request);
      return { success: true, message: 'Registration successful', data: { user, ...tokens } };
    }

    @DefaultAccess('public')
    @Post('login')
    @HttpCode(200)
    @NoStore()
    async login(@JsonBody() body: JsonObject, @Req() request: HttpRequest) {
      const { user, tokens } = await this.logins.login(body, request);
      const { id, email, username, role } = profileOf(user, this.options);
      return { success: true, message: 'Login successful', data: { user: { id, email, username, role }, ...tokens } };
    }

    /** Reads the user from the database, so that deleted and inactive users get 401 before their token expires. */
    @DefaultAccess('authenticated')
    @Get('me')
    async me(@CurrentUser() principal: Principal | undefined) {
      const user = principal && (await this.users.findById(String(principal.id)));
      if (!user?.active) throw new AuthenticationRequired(principal !== undefined);
      return { success: true, data: { user: profileOf(user, this.options) } };
    }
  }

  return AccountController;
}
