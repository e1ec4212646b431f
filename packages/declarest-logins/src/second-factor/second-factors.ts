/** Enrols second factors, and uses their codes once. What a change expects of the row is part of its one statement. */
import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { IsNull, LessThan, Like, type FindOptionsWhere } from 'typeorm';
import { AuthEvents, type AuthUser, UserAccounts } from 'declarest';
import { AccountTables, AuthServices } from 'declarest/plugin';
import { hashOfCode, isOfApp, newRecoveryCodes, wrongCode } from './codes.js';
import { SecondFactor } from './factor-tables.js';
import { FactorSecrets } from './factor-secrets.js';
import { FACTOR_SETTINGS, type FactorSettings } from './factor-settings.js';
import { LoginSteps } from '../login-steps/login-steps.js';
import { Totp } from './totp.js';

declare module 'declarest' {
  interface AuthEventMap {
    'factor.enabled': { readonly userId: string };
    'factor.disabled': { readonly userId: string };
    /** A wrong code was sent. */
    'factor.refused': { readonly userId: string };
  }
}

/** Values of columns, or SQL of them. */
type Changes = { readonly [K in keyof SecondFactor]?: SecondFactor[K] | (() => string) };

/** What the user adds to the authenticator app. */
export interface Enrolment {
  readonly uri: string;
  readonly secret: string;
}

/**
 * The second factors of users, for the application's own code, such as a page for support.
 * @example await this.factors.remove(user.id); // whose phone and recovery codes are lost
 */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly tables: AccountTables,
    private readonly accounts: UserAccounts,
    private readonly events: AuthEvents,
    private readonly secrets: FactorSecrets,
    private readonly totp: Totp,
    @Inject(FACTOR_SETTINGS) private readonly settings: FactorSettings,
    private readonly services: AuthServices,
    steps: LoginSteps,
  ) {
    steps.factors.push({
      enrolment: ['enrolFactor', 'confirmFactor'],
      stepOf: async (userId) =>
        (await this.isEnabled(userId)) ? { words: 'send a code of the second factor' } : undefined,
    });
  }

  /** Whether the logins of a user need a code. */
  async isEnabled(id: string | number): Promise<boolean> {
    return (await this.find(String(id)))?.secret != null;
  }

  /** Removes a factor without a code, and ends all sessions of the user. @returns whether there was one */
  async remove(id: string | number): Promise<boolean> {
    const userId = String(id);
    if (!(await this.forget(userId))) return false;
    this.events.emit('factor.disabled', { userId });
    await this.accounts.endSessions(userId);
    return true;
  }

  /** @internal The factor that the user has counts until `confirm`. @param hasGiven whether one was given @throws 409 */
  async enrol({ id, email, username }: AuthUser, hasGiven: boolean): Promise<Enrolment> {
    const userId = String(id);
    await this.tables.insertUnlessTaken(SecondFactor, { userId });
    const secret = this.totp.newSecret();
    const pending = this.secrets.encrypt(userId, secret);
    // A factor that another request has confirmed meanwhile needs a code.
    const isStored = await this.update({ userId, ...(!hasGiven && { secret: IsNull() }) }, { pending });
    if (!isStored) throw new ConflictException('The second factor has changed meanwhile. Try again');
    const issuer = this.settings.issuer ?? new URL(this.services.options.accountLinks).hostname;
    return { secret, uri: this.totp.uriOf(secret, issuer, email ?? username ?? userId) };
  }

  /** @internal Ends all sessions: those that go on would not have given the factor. @returns recovery codes @throws 401, 409 */
  async confirm(userId: string, code: string): Promise<readonly string[]> {
    const { pending = null } = (await this.find(userId)) ?? {};
    if (pending === null) throw new ConflictException('There is no enrolment to confirm');
    const { secret } = this.secrets.decrypt(userId, pending) ?? {};
    const lastStep = secret !== undefined && isOfApp(code) ? await this.totp.stepOf(secret, code) : undefined;
    if (lastStep === undefined) return this.refuse(userId);
    const codes = newRecoveryCodes();
    const enabled = { secret: pending, pending: null, lastStep, codes: hashesOf(userId, codes) };
    if (!(await this.update({ userId, pending }, enabled))) return this.refuse(userId);
    this.events.emit('factor.enabled', { userId });
    await this.accounts.endSessions(userId);
    return codes;
  }

  /** @internal Uses a code that `readCode` has read. @throws 401 for a wrong one, and for one that was used before */
  async use(userId: string, code: string): Promise<void> {
    const isUsed = isOfApp(code) ? await this.useOfApp(userId, code) : await this.useRecovery(userId, code);
    if (!isUsed) this.refuse(userId);
  }

  /** @internal The codes before end. @throws 401 where there is no factor any more */
  async renewCodes(userId: string): Promise<readonly string[]> {
    const codes = newRecoveryCodes();
    if (await this.update({ userId }, { codes: hashesOf(userId, codes) })) return codes;
    throw wrongCode();
  }

  /** @internal For a user who was deleted, or whose account was taken back. */
  async forget(userId: string): Promise<boolean> {
    return (await this.tables.remove(SecondFactor, { userId })) === 1;
  }

  private async useOfApp(userId: string, code: string): Promise<boolean> {
    const { secret = null } = (await this.find(userId)) ?? {};
    const decrypted = secret === null ? undefined : this.secrets.decrypt(userId, secret);
    const step = decrypted && (await this.totp.stepOf(decrypted.secret, code));
    if (secret === null || !decrypted || step === undefined) return false;
    const renewed = decrypted.isCurrent ? secret : this.secrets.encrypt(userId, decrypted.secret);
    return this.update({ userId, secret, lastStep: LessThan(step) }, { lastStep: step, secret: renewed });
  }

  private useRecovery(userId: string, code: string): Promise<boolean> {
    const hash = hashOfCode(userId, code);
    return this.update({ userId, codes: Like(`%${hash} %`) }, { codes: () => `REPLACE(codes, '${hash} ', '')` });
  }

  private refuse(userId: string): never {
    this.events.emit('factor.refused', { userId });
    throw wrongCode();
  }

  private find(userId: string): Promise<SecondFactor | undefined> {
    return this.tables.findOne(SecondFactor, { userId });
  }

  /** @returns whether a row was as expected */
  private async update(where: FindOptionsWhere<SecondFactor>, values: Changes): Promise<boolean> {
    return (await this.tables.update(SecondFactor, where, values)) === 1;
  }
}

const hashesOf = (userId: string, codes: readonly string[]): string =>
  codes.map((code) => `${hashOfCode(userId, code.replaceAll('-', ''))} `).join('');
