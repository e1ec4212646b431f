import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @typedef {'nginx' | 'Apache' | 'Caddy' | 'HAProxy'} ProxyName */

/**
 * The proxies of `test/proxies`, and Debian's packages of them. Plain JavaScript, because Vitest does not compile reporters.
 * @type {readonly { name: ProxyName, command: string, package: string }[]}
 */
export const PROXIES = [
  { name: 'nginx', command: 'nginx', package: 'nginx-light' },
  { name: 'Apache', command: 'apache2', package: 'apache2-bin' },
  { name: 'Caddy', command: 'caddy', package: 'caddy' },
  { name: 'HAProxy', command: 'haproxy', package: 'haproxy' },
];

/** @param {{ command: string }} proxy */
export const isInstalled = ({ command }) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));
