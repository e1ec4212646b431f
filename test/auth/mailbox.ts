/** A mailer that keeps what it is given. */
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AccountMail, Mailer } from 'declarest';

@Injectable()
export class Mailbox implements Mailer {
  static readonly mails: AccountMail[] = [];
  static work: () => Promise<void> = () => Promise.resolve();

  async send(mail: AccountMail): Promise<void> {
    await Mailbox.work();
    Mailbox.mails.push(mail);
  }
}

/** Mails are sent after the answer. @returns the mails to an address, when there are so many */
export async function mailsTo(address: string, count = 1): Promise<AccountMail[]> {
  for (let tries = 0; tries < 3000; tries += 1) {
    const found = Mailbox.mails.filter(({ to }) => to === address);
    if (found.length >= count) return found;
    await delay(10);
  }
  throw new Error(
    `Expected ${count} mails to ${address}, got ${JSON.stringify(Mailbox.mails.map(({ to, kind }) => [to, kind]))}`,
  );
}

/** Long enough for a mail that should not be sent. */
export const noMailsTo = async (address: string): Promise<AccountMail[]> => {
  await delay(150);
  return Mailbox.mails.filter(({ to }) => to === address);
};
