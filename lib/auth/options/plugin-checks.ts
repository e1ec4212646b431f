/** What plugins must be, and what two of them must not both declare. */
import type { Type } from '@nestjs/common';
import type { RoleHierarchy } from '../../access/role-hierarchy.js';
import { CREDENTIAL_ROLES } from '../../http/caller.js';
import { areSomeNames, describe } from '../../options/invalid-option.js';
import { integer, isFunction, isMethodName, isObject, isOneOf, optional } from '../../options/option-table.js';
import { plainPath, readOptions, refuseAuthOption, row } from '../../options/option-table.js';
import type { Accepts, Refuse } from '../../options/option-table.js';
import { collectSetup, type CollectedSetup } from '../plugins/collected-setup.js';
import type { AuthPlugin, Endpoint } from '../plugins/plugin.js';
import { UserRepository } from '../users/user.repository.js';

/** `services` is a member of the controller. */
const isEndpointName: Accepts = (name) => isMethodName(name) && name !== 'services';
const areEndpoints: Accepts = (value) => Array.isArray(value) && value.every(isObject);
const isEndpointRoute: Accepts = (route) => {
  const [, path = ''] = /^(?:GET|POST|PATCH|PUT|DELETE) (.+)$/.exec(String(route)) ?? [];
  return plainPath(path.replaceAll(/(^|\/):(?=\w+(?:\/|$))/g, '$1')) !== undefined;
};
const isAccess: Accepts = (access) =>
  isOneOf('public', 'authenticated')(access) || areSomeNames((access as { anyOf?: unknown } | null)?.anyOf);

const CORRECT = 'correct or remove it';
const HOOKS = ['setup', 'authenticate', 'beforeLogin', 'issue', 'accountChanged', 'waysIn', 'describe'];
const PLUGIN = {
  endpoints: row<readonly Endpoint[]>([], 'an array of endpoints', areEndpoints, CORRECT),
  tables: row<unknown>([], 'an array of entities', Array.isArray, CORRECT),
  providers: row<unknown>([], 'an array of providers', Array.isArray, CORRECT),
  ...Object.fromEntries(HOOKS.map((hook) => [hook, optional('a function', isFunction, CORRECT)])),
};
const ENDPOINT = {
  name: row('', 'a name such as "usePin", and no hook, "then" or "services"', isEndpointName, 'choose another name'),
  route: row('', 'a verb and a path such as "POST pins/:id"', isEndpointRoute, 'use parameters such as :id'),
  access: row<unknown>('public', '"public", "authenticated" or { anyOf } with a role', isAccess, CORRECT),
  status: integer(200, 200, 299),
  run: row<unknown>(undefined, 'a function', isFunction, 'return the body of the answer'),
};

/** @returns what the plugins need */
export function expectPlugins(
  plugins: readonly AuthPlugin[],
  repositoryClass: Type<UserRepository> | undefined,
): CollectedSetup {
  for (const plugin of plugins) {
    const refuse: Refuse = (member, ...reason) => refuseAuthOption(`plugins.${plugin.name}.${member}`, ...reason);
    for (const endpoint of readOptions(PLUGIN, plugin, refuse).endpoints)
      readOptions(ENDPOINT, endpoint, (member, ...reason) => refuse(`${String(endpoint.name)}.${member}`, ...reason));
  }
  const setup = collectSetup(plugins);
  const declared = plugins.flatMap(({ name, endpoints = [], limits = {} }) => [
    `the plugin ${name}`,
    ...endpoints.flatMap((each) => [`the endpoint ${each.name}`, `the route ${each.route}`]),
    ...Object.keys(limits).map((action) => `the limits of ${action}`),
  ]);
  declared.push(...setup.lifetimes.map(() => 'the lifetime of access tokens'));
  const repeated = declared.find((each, index) => declared.indexOf(each) !== index);
  if (repeated !== undefined) {
    const advice =
      'keep one of them: `sessions`, `passwordReset`, `requireVerified` and `administration` are plugins too';
    refuseAuthOption('plugins', 'plugins that differ in all they declare', `${repeated} twice`, advice);
  }
  for (const [{ name, option = name }, method] of setup.methods)
    if (repositoryClass && repositoryClass.prototype[method] === UserRepository.prototype[method]) {
      const expected = `used with a repositoryClass that has the method \`${method}\``;
      refuseAuthOption(option, expected, 'one without it', `add the method to ${repositoryClass.name}`);
    }
  return setup;
}

/** A hierarchy must not give users the role of keys, nor keys further roles. */
export function expectNoCredentialRoles(hierarchy: RoleHierarchy): void {
  const reserved: readonly string[] = Object.values(CREDENTIAL_ROLES);
  const named = Object.entries(hierarchy).flat(2) as readonly string[];
  const found = named.find((role) => reserved.includes(role));
  if (found === undefined) return;
  const expected = `without ${reserved.join(' and ')}, which say how a request with apiKeys() is authenticated`;
  const advice = 'Remove it, or use another name for the role of users';
  refuseAuthOption('roleHierarchy', expected, describe(found), advice);
}
