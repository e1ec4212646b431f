/** Passkeys of a browser: WebAuthn level 3, with the functions of the browser that read and write JSON. */
import { Failure } from './failure.js';

interface Credential {
  toJSON(): object;
}

/** The part of a browser that is used. */
interface Browser {
  readonly PublicKeyCredential?: {
    parseCreationOptionsFromJSON?(options: object): object;
    parseRequestOptionsFromJSON?(options: object): object;
  };
  readonly navigator: {
    readonly credentials: Record<'create' | 'get', (options: { publicKey: object }) => Promise<Credential>>;
  };
}

/** @param options as the server sends them @returns what the server takes as `credential` @throws Failure */
export const createPasskey = (options: object): Promise<object> =>
  askBrowser('create', 'parseCreationOptionsFromJSON', options);

/** As {@link createPasskey}, of a passkey that exists. */
export const getPasskey = (options: object): Promise<object> =>
  askBrowser('get', 'parseRequestOptionsFromJSON', options);

async function askBrowser(
  method: 'create' | 'get',
  parse: 'parseCreationOptionsFromJSON' | 'parseRequestOptionsFromJSON',
  options: object,
): Promise<object> {
  const { PublicKeyCredential, navigator } = globalThis as unknown as Browser;
  const publicKey = PublicKeyCredential?.[parse]?.(options);
  if (!publicKey)
    throw new Failure('Passkeys need a browser of 2025 or later, and a page at https: or localhost.', 400);
  try {
    return (await navigator.credentials[method]({ publicKey })).toJSON();
  } catch (cause) {
    // Browsers do not say whether the user has cancelled, or has no passkey.
    const reason = (cause as Error).name === 'InvalidStateError' ? 'This device has one already.' : 'Try again.';
    throw Object.assign(new Failure(`The browser gave no passkey. ${reason}`, 400), { cause });
  }
}
