import { MAILER, type Mailer } from '../options/mailer.js';
import type { AuthPlugin } from '../plugins/plugin.js';

/** Tells users of changes to their account, where the application has a mailer and the user an address. */
export const changeMails: AuthPlugin = {
  name: 'changeMails',
  decidesBy: {},
  accountChanged({ get, afterAnswer, profileOf }, change) {
    const { name } = change;
    if (name !== 'password.changed' && name !== 'email.changed') return;
    const changed = name === 'email.changed' ? 'email' : 'password';
    const to = name === 'email.changed' ? change.from : change.user.email;
    const mailer = get<Mailer | undefined>(MAILER);
    if (!mailer || to === null) return;
    const user = profileOf(change.user);
    const mail = { kind: 'changed', to, user, link: undefined, token: undefined, changed } as const;
    afterAnswer('The mail of kind changed', async () => mailer.send(mail));
  },
};
