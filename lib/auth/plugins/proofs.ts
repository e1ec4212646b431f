/** What lasts longer than a session asks its user for a fresh proof (OWASP ASVS 5.0, 7.5.1). */
import { Inject, Injectable } from '@nestjs/common';
import { AuthenticationRequired, StepUpRequired } from '../../http/refusal.js';
import type { JsonObject } from '../../http/json-body.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { InvalidUserError } from '../users/user-checks.js';
import { UserRepository } from '../users/user.repository.js';
import { AuthPlugins } from './auth-plugins.js';
import { AuthServices } from './auth-services.js';
import type { AuthPlugin, Endpoint, EndpointCall, UserProof } from './plugin.js';

/** A user without any proof must have logged in within so many seconds. */
const MAX_AGE_SECONDS = 300;

@Injectable()
export class Proofs {
  readonly all: readonly UserProof[];

  constructor(
    private readonly users: UserRepository,
    private readonly plugins: AuthPlugins,
    private readonly services: AuthServices,
    @Inject(AUTH_OPTIONS) options: { readonly plugins: readonly AuthPlugin[] },
  ) {
    this.all = options.plugins.flatMap(({ proof }) => proof ?? []);
  }

  /**
   * @param needed `factor`: of a user with a second factor, nothing else counts
   * @param sent the members of the body that may be proofs
   * @returns the proof that was right; `undefined` for a user who has none, and has just logged in
   * @throws 400 without exactly one that counts, 401, 429
   */
  async expect(needed: Endpoint['needsProof'], sent: JsonObject, call: EndpointCall): Promise<UserProof | undefined> {
    const user = await this.users.findWithHash(String(call.user().id));
    if (!user?.active) throw new AuthenticationRequired(true);
    const own: UserProof[] = [];
    for (const each of this.all) if (await each.has(this.services, user)) own.push(each);
    const factors = own.filter(({ isFactor }) => needed === 'factor' && isFactor);
    const accepted = factors.length > 0 ? factors : own;
    const [proof, ...others] = this.all.filter(({ member }) => sent[member] != null);
    if (accepted.length === 0) {
      if (await this.plugins.isRecent(call.request, MAX_AGE_SECONDS)) return undefined;
      throw new StepUpRequired('A recent login is required', MAX_AGE_SECONDS);
    }
    if (proof && others[0]) throw new InvalidUserError([`${others[0].member}: not accepted beside ${proof.member}`]);
    if (!proof || !accepted.includes(proof)) {
      const [first, ...alternatives] = accepted.map(({ member }) => member);
      const also = alternatives.length > 0 ? `, or ${alternatives.join(' or ')} in its place` : '';
      throw new InvalidUserError([`${first}: required${also}`]);
    }
    await proof.check(this.services, call, sent[proof.member]);
    return proof;
  }
}
