/** What users change of their own account: the password, the profile, and whether it exists. */
import { Delete, HttpCode, Inject, Patch, Post, Req, UnauthorizedException } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { authenticationOf } from '../../access/principal.js';
import { JsonBody, type JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { Accounts } from '../accounts.js';
import { AuthController, DefaultAccess, SignedIn } from '../auth-route.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from '../auth.options.js';
import { clientFactsOf } from '../client-facts.js';
import { Logins } from '../logins.js';
import { profileOf } from '../auth-user.js';
import { Registration } from '../registration.js';
import { readTexts } from '../user-checks.js';
import { Attempts } from '../throttle/attempts.js';
import { UserRepository } from '../user.repository.js';

export function profileController({ authBasePath }: ResolvedStaticOptions): Type<unknown> {
  @AuthController(authBasePath)
  class ProfileController {
    constructor(
      private readonly users: UserRepository,
      private readonly accounts: Accounts,
      private readonly registration: Registration,
      private readonly logins: Logins,
      private readonly attempts: Attempts,
      @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    ) {}

    /** The session of the request goes on. */
    @DefaultAccess('authenticated')
    @Post('password')
    @HttpCode(204)
    async changePassword(
      @JsonBody() body: JsonObject,
      @SignedIn() user: Principal,
      @Req() request: HttpRequest,
    ): Promise<void> {
      const { current, new: password } = readTexts(body, ['current', 'new']);
      const found = await this.logins.repeatPassword(user, current, request);
      const session = authenticationOf(request)?.session;
      if (!(await this.accounts.replacePassword(found, password, session)))
        throw new UnauthorizedException('Invalid credentials');
    }

    @DefaultAccess('authenticated')
    @Patch('me')
    async updateMe(@JsonBody() body: JsonObject, @SignedIn() { id }: Principal, @Req() request: HttpRequest) {
      const before = await this.users.findById(String(id));
      if (!before?.active) throw new AuthenticationRequired(true);
      const fields = this.registration.readChanges(body);
      const { address } = clientFactsOf(request);
      const change = () => this.accounts.change(String(id), fields);
      // The answer tells whether a value of a unique column is taken, as that of a registration does.
      const user =
        Object.keys(fields).length === 0 ? before : await this.attempts.run({ action: 'register', address }, change);
      if (!user) throw new AuthenticationRequired(true);
      return { success: true, message: 'Profile updated', data: { user: profileOf(user, this.options) } };
    }

    @DefaultAccess('authenticated')
    @Delete('me')
    @HttpCode(204)
    async deleteMe(
      @JsonBody() body: JsonObject,
      @SignedIn() principal: Principal,
      @Req() request: HttpRequest,
    ): Promise<void> {
      const { password } = readTexts(body, ['password']);
      await this.logins.repeatPassword(principal, password, request);
      await this.accounts.remove(String(principal.id));
    }
  }

  return ProfileController;
}
