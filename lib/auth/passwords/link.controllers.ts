/** The endpoints of mailed links. */
import { HttpCode, Post, Req } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { JsonBody, type JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { AuthController, DefaultAccess, SignedIn } from '../auth-route.js';
import type { ResolvedStaticOptions } from '../auth.options.js';
import { clientFactsOf } from '../client-facts.js';
import { Logins } from '../logins.js';
import { readTexts } from '../user-checks.js';
import { Attempts } from '../throttle/attempts.js';
import { MailedLinks } from './mailed-links.js';

const MAILED = { success: true, message: 'If the address is known, a mail was sent' };

export function resetController({ authBasePath }: ResolvedStaticOptions): Type<unknown> {
  @AuthController(authBasePath)
  class ResetController {
    constructor(
      private readonly links: MailedLinks,
      private readonly attempts: Attempts,
    ) {}

    @DefaultAccess('public')
    @Post('password/forgot')
    @HttpCode(202)
    forgotPassword(@JsonBody() body: JsonObject, @Req() request: HttpRequest) {
      const { email } = readTexts(body, ['email']);
      this.links.ask('reset', email, clientFactsOf(request).address);
      return MAILED;
    }

    @DefaultAccess('public')
    @Post('password/reset')
    @HttpCode(204)
    async resetPassword(@JsonBody() body: JsonObject, @Req() request: HttpRequest): Promise<void> {
      const { token, password } = readTexts(body, ['token', 'password']);
      const { address } = clientFactsOf(request);
      await this.attempts.run({ action: 'link', address }, () => this.links.reset(token, password));
    }
  }

  return ResetController;
}

export function verificationController({ authBasePath }: ResolvedStaticOptions): Type<unknown> {
  @AuthController(authBasePath)
  class VerificationController {
    constructor(
      private readonly links: MailedLinks,
      private readonly attempts: Attempts,
      private readonly logins: Logins,
    ) {}

    @DefaultAccess('public')
    @Post('verify')
    @HttpCode(204)
    async verifyEmail(@JsonBody() body: JsonObject, @Req() request: HttpRequest): Promise<void> {
      const { token } = readTexts(body, ['token']);
      const { address } = clientFactsOf(request);
      await this.attempts.run({ action: 'link', address }, () => this.links.verify(token));
    }

    @DefaultAccess('public')
    @Post('verify/resend')
    @HttpCode(202)
    resendVerification(@JsonBody() body: JsonObject, @Req() request: HttpRequest) {
      const { email } = readTexts(body, ['email']);
      this.links.ask('verify', email, clientFactsOf(request).address);
      return MAILED;
    }

    @DefaultAccess('authenticated')
    @Post('email')
    @HttpCode(202)
    async changeEmail(@JsonBody() body: JsonObject, @SignedIn() principal: Principal, @Req() request: HttpRequest) {
      const { password, email } = readTexts(body, ['password', 'email']);
      const user = await this.logins.repeatPassword(principal, password, request);
      await this.links.startEmailChange(user, email, clientFactsOf(request).address);
      return { success: true, message: 'A mail was sent to the new address' };
    }
  }

  return VerificationController;
}
