/** What an ADMIN sees and changes of all users. */
import {
  ConflictException,
  Delete,
  Get,
  HttpCode,
  Inject,
  NotFoundException,
  Optional,
  Param,
  Patch,
  Post,
  Req,
} from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { AccessRules } from '../../access/access-rules.js';
import { JsonBody, type JsonObject } from '../../http/json-body.js';
import { ADMIN_ROLE, type Principal } from '../../http/principal.js';
import { AccessRefused } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { Accounts } from '../accounts.js';
import { Application } from '../../routes/application.js';
import { StartupFacts } from '../../routes/startup-facts.js';
import { AuthController, DefaultAccess, SignedIn, when } from '../auth-route.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from '../auth.options.js';
import { profileOf, type AuthUser } from '../auth-user.js';
import { MailedLinks } from '../passwords/mailed-links.js';
import { Sessions } from '../sessions/sessions.js';
import { checkChanges } from '../user-checks.js';
import { UserRepository } from '../user.repository.js';
import { readUserQuery } from './user-list.js';

const ADMIN_ONLY = { anyOf: [ADMIN_ROLE] };

export function administrationController(options: ResolvedStaticOptions): Type<unknown> {
  const { authBasePath, passwordReset, sessions: hasSessions } = options;

  @AuthController(authBasePath)
  class AdministrationController {
    constructor(
      private readonly users: UserRepository,
      private readonly accounts: Accounts,
      private readonly rules: AccessRules,
      @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
      application: Application,
      @Optional() private readonly sessions?: Sessions,
      @Optional() private readonly links?: MailedLinks,
    ) {
      application.stateOf(StartupFacts).optionRoles.add(ADMIN_ROLE);
    }

    @DefaultAccess(ADMIN_ONLY, true)
    @Get('users')
    async findUsers(@Req() request: HttpRequest) {
      const query = readUserQuery(request);
      const { page, size } = query;
      const { users, total } = await this.users.list(query);
      const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
      const data = users.map((user) => profileOf(user, this.options));
      return { success: true, message: 'User list', data, metadata: { pagination } };
    }

    @DefaultAccess(ADMIN_ONLY, true)
    @Patch('users/:id')
    async changeUser(@Param('id') id: string, @JsonBody() body: JsonObject, @SignedIn() caller: Principal) {
      const before = await this.find(id, caller);
      const { role, active, firstName, lastName } = this.accounts.checks;
      const checks = { role, active, firstName, lastName };
      const fields: Partial<Pick<AuthUser, 'role' | 'active'>> = checkChanges(body, checks, ['firstName', 'lastName']);
      // Who is dismissed while the request is handled must not undo it.
      const isOwn = String(before.id) === String(caller.id);
      if (isOwn && fields.active === true) delete fields.active;
      if (isOwn && fields.role === caller.roles[0]) delete fields.role;
      if (typeof fields.role === 'string') this.expectNotAbove(fields.role, caller);
      const changed = Object.keys(fields).length > 0 ? await this.accounts.changeKeepingAdmin(id, fields) : before;
      if (!changed) throw unknownUser(id);
      return { success: true, message: 'User updated', data: { user: profileOf(changed, this.options) } };
    }

    @DefaultAccess(ADMIN_ONLY, true)
    @when(passwordReset, Post('users/:id/reset'))
    @HttpCode(202)
    async mailPasswordReset(@Param('id') id: string, @SignedIn() caller: Principal) {
      const user = await this.find(id, caller);
      if (user.email === null) throw new ConflictException('This user has no e-mail address');
      if (!user.active) throw new ConflictException('This user is not active');
      this.links?.startReset(user);
      return { success: true, message: 'A mail was sent to the user' };
    }

    @DefaultAccess(ADMIN_ONLY, true)
    @when(hasSessions !== undefined, Delete('users/:id/sessions'))
    @HttpCode(204)
    async endUserSessions(@Param('id') id: string, @SignedIn() caller: Principal): Promise<void> {
      await this.find(id, caller);
      await this.sessions?.endAll(id);
    }

    private async find(id: string, caller: Principal): Promise<AuthUser> {
      const user = await this.users.findById(id);
      if (!user) throw unknownUser(id);
      this.expectNotAbove(user.role, caller);
      return user;
    }

    /** A role that includes ADMIN is above it: who has not got it must not get it, nor take it from others. */
    private expectNotAbove(role: string, { roles }: Principal): void {
      const expand = (names: readonly string[]) => this.rules.compiled?.roles.expand(names) ?? names;
      if (!expand([role]).includes(ADMIN_ROLE) || expand(roles).includes(role)) return;
      throw new AccessRefused([role]);
    }
  }

  return AdministrationController;
}

const unknownUser = (id: string): NotFoundException => new NotFoundException(`User with id ${id} not found`);
