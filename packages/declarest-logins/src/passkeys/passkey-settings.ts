/** The options of `passkeys()`, and its events. */
import { describeValue, option, readOptions, refuseOption } from 'declarest/plugin';

interface PasskeyEvent {
  /** The id of the user as text. */
  readonly userId: string;
  readonly passkeyId: string;
}

declare module 'declarest' {
  interface AuthEventMap {
    'passkey.added': PasskeyEvent;
    'passkey.removed': PasskeyEvent;
  }
}

export interface PasskeysOptions {
  /**
   * The domain that passkeys belong to, without scheme and port. It cannot change later: the passkeys of another domain are
   * of no use.
   * @example 'shop.example'
   */
  rpId: string;
  /**
   * The origins of the pages that use passkeys, on this domain or below it, and `android:apk-key-hash:…` of Android apps.
   * They need HTTPS, except on `localhost`.
   * @example ['https://shop.example', 'https://admin.shop.example']
   */
  origins: readonly string[];
  /**
   * Whether passkeys are a second factor. Other logins of a user with a passkey then need one too, or a code of
   * `secondFactor()`. Each login by a passkey has given the factor: it needs no code, and `hasFactor` takes it.
   * @default false
   */
  secondFactor?: boolean;
}

export const PASSKEY_SETTINGS = Symbol('declarest.passkeySettings');

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** WebAuthn takes no addresses of IP. */
const DOMAIN = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)*(?!\\d+$)${LABEL}$`);
const ANDROID_APP = /^android:apk-key-hash:[\w-]{43}$/;

const isWithin = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

const isDomain = (value: unknown): boolean => typeof value === 'string' && DOMAIN.test(value);
const areTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

const OPTIONS = {
  rpId: option.value('', 'a domain such as "shop.example"', isDomain, 'set the domain, without scheme, port and path'),
  origins: option.value<readonly string[]>(
    [],
    'a list of origins',
    areTexts,
    'give for example ["https://shop.example"]',
  ),
  secondFactor: option.flag(),
};

/** @throws InvalidOptionError */
export function readSettings(options: PasskeysOptions): Readonly<PasskeysOptions> {
  const { rpId, origins, secondFactor } = readOptions('passkeys', OPTIONS, options);
  const wrong = origins.find((origin) => !isOriginOf(origin, rpId));
  if (wrong !== undefined) {
    const advice = `give for example "https://${rpId}", without a path and without a slash at the end`;
    refuseOption('passkeys', 'origins', `HTTPS origins of ${rpId} and its subdomains`, describeValue(wrong), advice);
  }
  return Object.freeze({ rpId, origins, secondFactor });
}

function isOriginOf(text: string, rpId: string): boolean {
  if (ANDROID_APP.test(text)) return true;
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isWithin(hostname, 'localhost'));
  return origin === text && isSecure && isWithin(hostname, rpId);
}
