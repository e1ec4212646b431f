import { HttpCode, Post, Req, UnauthorizedException } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { authenticationOf } from '../../access/principal.js';
import { JsonBody, type JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { Accounts } from '../accounts.js';
import { AuthController, DefaultAccess, SignedIn } from '../auth-route.js';
import type { ResolvedStaticOptions } from '../auth.options.js';
import { OwnPassword } from '../own-password.js';
import { readTexts } from '../request-fields.js';

export function passwordController({ authBasePath }: ResolvedStaticOptions): Type<unknown> {
  @AuthController(authBasePath)
  class PasswordController {
    constructor(
      private readonly accounts: Accounts,
      private readonly ownPassword: OwnPassword,
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
      const found = await this.ownPassword.expect(user, current, request);
      const session = authenticationOf(request)?.session;
      if (!(await this.accounts.replacePassword(found, password, session)))
        throw new UnauthorizedException('Invalid credentials');
    }
  }

  return PasswordController;
}
