/** What is kept of the client that sends a request: its address and the program it says it is. */
import { isIPv6 } from 'node:net';
import type { HttpRequest } from './http-request.js';

export interface ClientInfo {
  /** As the platform says, which trusts a proxy only where its setting `trust proxy` or `trustProxy` says so. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

const MAX_USER_AGENT = 255;
/** Some proxies forward the port, too: a client would have a new address for each connection. */
const BRACKETED = /^\[([^\]]*)\](?::\d+)?$/;
const WITH_PORT = /^([\d.]+):\d+$/;
/** How Node shows IPv4 on a socket of IPv6: `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2). */
const MAPPED = /^::ffff:(?=\d+\.)/i;

export function clientInfoOf({ ip, headers }: HttpRequest): ClientInfo {
  const userAgent = headers['user-agent']
    ?.toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, MAX_USER_AGENT);
  const address = ip?.replace(BRACKETED, '$1').replace(WITH_PORT, '$1').replace(MAPPED, '').slice(0, 45);
  return { address, userAgent };
}

/** The address as attempts are counted: one client has a whole network of 64 bits of IPv6 (RFC 6177). */
export const networkOf = (address: string): string => prefixOf(address, 4) ?? address;

/** What one customer of a provider may have: a network of 48 bits of IPv6 (RFC 6177). `undefined` for IPv4. */
export const siteOf = (address: string): string | undefined => prefixOf(address, 3);

/** @param count of groups of 16 bits @returns `undefined` for what is not IPv6 */
function prefixOf(address: string, count: number): string | undefined {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return undefined;
  const [head = '', tail] = plain.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const groups =
    tail === undefined ? left : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${16 * count}`;
}
