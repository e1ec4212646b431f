/** What is counted of an attempt, and how many failures are free. */
import { hashOf } from '../tables/secret-tokens.js';
import { networkOf, siteOf } from '../../http/client-info.js';
import type { ThrottleSettings } from './throttle-options.js';

/** What is counted: an account from an address (`pair`) or from a /48 of IPv6 (`site`), an account, an address. */
type Kind = 'pair' | 'site' | 'account' | 'address';

/** How many failures of an action are free, in an hour. Further attempts are delayed. */
export interface ActionLimits {
  /** Failures for one account from one address. */
  readonly pair?: number;
  /** Failures for one account from one network of IPv6 (/48), which one customer of a provider may have. */
  readonly site?: number;
  /** Failures for one account, from all addresses together that it has not been used from. */
  readonly account?: number;
  /** Failures from one address, for all accounts. */
  readonly address?: number;
  /** Whether an account is refused until the hour ends, instead of delayed, when `account` is used up. @default false */
  readonly isFinal?: boolean;
}

/**
 * The limits of an action, from the option `throttle`.
 * @example ({ mails, addressTries }) => ({ account: mails, address: addressTries })
 */
export type AttemptLimits = (settings: ThrottleSettings) => ActionLimits;

/** The limits of an action that has none of its own: `addressTries` failures from one address. */
export const limitByAddress: AttemptLimits = ({ addressTries }) => ({ address: addressTries });

export interface Attempt {
  /** A name of `limits` of a plugin. Any other name counts failures for each address. */
  readonly action: string;
  /** The login as sent, or another name of what is guessed. */
  readonly account?: string;
  /** `undefined` where the platform does not know it, as on a socket of Unix. */
  readonly address: string | undefined;
  /** The id of the user with this login. A success makes the address one that this user has logged in from. */
  readonly findUser?: () => Promise<string | undefined>;
}

/** No account has a longer name. */
const MAX_NAME = 300;

export interface Key {
  readonly key: string;
  readonly free: number;
  /** Whether nothing more runs when what is free is used up, also not with delays. */
  readonly isFinal: boolean;
}

/** Names that look alike are those of several users: what one has done makes no address known to the other. */
export const knownKey = ({ account, address = 'unknown' }: Attempt, userId: string | undefined): string =>
  hashOf(JSON.stringify(['known', userId ?? { account }, networkOf(address)]));

export function keysOf(
  { action, account, address = 'unknown' }: Attempt,
  { isFinal = false, ...limits }: ActionLimits,
): { readonly [K in Kind]?: Key } {
  const network = networkOf(address);
  // One spelling of a name: two of them may be the same to a database. Normalization takes quadratic time.
  const name = account?.trim().slice(0, MAX_NAME).normalize('NFKC').trim().toLowerCase();
  const site = siteOf(address);
  const parts = { pair: [name, network], site: [name, site], account: [name], address: [network] };
  // Without a larger network, a pair says all.
  const kinds = Object.entries(limits).filter(([kind]) => kind !== 'site' || site !== undefined);
  const keys = kinds.map(([kind, free]) => {
    const key = hashOf(JSON.stringify([action, kind, ...parts[kind as Kind]]));
    return [kind, { key, free, isFinal: isFinal && kind === 'account' }];
  });
  return Object.fromEntries(keys) as { readonly [K in Kind]?: Key };
}
