import {
  BadRequestException,
  Delete,
  Get,
  HttpCode,
  NotFoundException,
  Param,
  Post,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { authenticationOf } from '../../access/principal.js';
import { JsonBody, type JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { AuthController, DefaultAccess, NoStore, OptionalJsonBody, SignedIn } from '../auth-route.js';
import type { ResolvedStaticOptions } from '../auth.options.js';
import { clientFactsOf } from '../client-facts.js';
import { Logins } from '../logins.js';
import { readTexts } from '../user-checks.js';
import { Attempts, type Attempt } from '../throttle/attempts.js';
import type { AuthSession } from './auth-session.js';
import { Sessions } from './sessions.js';

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** What its owner sees of a session. */
const shown = ({ id, createdAt, lastUsedAt, userAgent, address }: AuthSession, current: string | undefined) => ({
  id,
  createdAt: timeOf(createdAt),
  lastUsedAt: timeOf(lastUsedAt),
  userAgent,
  address,
  current: id === current,
});

export function sessionController({ authBasePath }: ResolvedStaticOptions): Type<unknown> {
  @AuthController(authBasePath)
  class SessionController {
    constructor(
      private readonly sessions: Sessions,
      private readonly logins: Logins,
      private readonly attempts: Attempts,
    ) {}

    @DefaultAccess('public')
    @Post('refresh')
    @HttpCode(200)
    @NoStore()
    async refresh(@JsonBody() body: JsonObject, @Req() request: HttpRequest) {
      const { refreshToken } = readTexts(body, ['refreshToken']);
      const { address } = clientFactsOf(request);
      const sent = this.sessions.read(refreshToken);
      const attempt: Attempt = sent
        ? { action: 'refresh', account: sent.sessionId, address }
        : { action: 'forgedRefresh', address };
      const data = await this.attempts.run(attempt, async () => {
        const tokens = sent && (await this.logins.refresh(sent, request));
        if (!tokens) throw new UnauthorizedException('Invalid refresh token');
        return tokens;
      });
      return { success: true, message: 'Token refreshed', data };
    }

    /** Public, because a client may log out by its refresh token after its access token has expired. */
    @DefaultAccess('public')
    @Post('logout')
    @HttpCode(204)
    async logout(@OptionalJsonBody() body: JsonObject, @Req() request: HttpRequest): Promise<void> {
      const { refreshToken } = readTexts(body, [], ['refreshToken']);
      if (refreshToken !== undefined) {
        if (!(await this.sessions.endByToken(refreshToken))) throw new UnauthorizedException('Invalid refresh token');
        return;
      }
      const { principal, session, bearerWasSent = false, failure } = authenticationOf(request) ?? {};
      if (failure) throw failure;
      if (!principal) throw new AuthenticationRequired(bearerWasSent);
      if (session === undefined) throw new BadRequestException('This token belongs to no session');
      await this.sessions.endOwn(String(principal.id), session);
    }

    @DefaultAccess('authenticated')
    @Post('logout-all')
    @HttpCode(204)
    async logoutAll(@SignedIn() { id }: Principal): Promise<void> {
      await this.sessions.endAll(String(id));
    }

    @DefaultAccess('authenticated')
    @Get('sessions')
    async findSessions(@SignedIn() { id }: Principal, @Req() request: HttpRequest) {
      const current = authenticationOf(request)?.session;
      const sessions = await this.sessions.listOf(String(id));
      return { success: true, data: sessions.map((each) => shown(each, current)) };
    }

    @DefaultAccess('authenticated')
    @Delete('sessions/:id')
    @HttpCode(204)
    async endSession(@Param('id') id: string, @SignedIn() user: Principal): Promise<void> {
      if (!(await this.sessions.endOwn(String(user.id), id)))
        throw new NotFoundException(`Session with id ${id} not found`);
    }
  }

  return SessionController;
}
