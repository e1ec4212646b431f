/** The addresses that users have confirmed. */
import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountChange } from '../plugins/plugin.js';
import { AccountTables } from '../tables/account-tables.js';
import type { AuthUser } from '../users/auth-user.js';

/** The address that a user has confirmed. A user with another address is not verified. */
@Entity('declarest_verified_email')
export class VerifiedEmail {
  /** The id of the user as text. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  userId!: string;

  @Column({ type: 'varchar', length: 254 })
  email!: string;
}

/** Which addresses are verified: `mailedLinks()` provides it. */
@Injectable()
export class VerifiedEmails {
  constructor(private readonly tables: AccountTables) {}

  async has({ id, email }: Pick<AuthUser, 'email'> & { readonly id: string | number }): Promise<boolean> {
    const row = await this.tables.findOne(VerifiedEmail, { userId: String(id) });
    return email !== null && row?.email === email;
  }

  async add(userId: string, email: string): Promise<void> {
    await this.tables.run((manager) => manager.upsert(VerifiedEmail, { userId, email }, ['userId']));
  }

  /** A new address counts when its link was used. */
  async onAccountChange(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    if (name === 'user.deleted') await this.tables.remove(VerifiedEmail, { userId });
    if ((name === 'user.created' || name === 'email.changed') && change.user.email !== null)
      await this.add(userId, change.user.email);
  }
}
