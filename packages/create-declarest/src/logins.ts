// The ways to log in, and what each adds to the application. The template has a login by password.
import * as tables from './tables.js';

type Code = Readonly<Record<string, string>>;

export interface Plugin {
  readonly name: string;
  /** Its call in `src/logins.ts`. @param providers code of each provider */
  readonly call: (providers: readonly string[]) => string;
  /** The module that exports it, and the entities of its tables. */
  readonly entry: string;
  /** The tables, by the names of their entities. */
  readonly tables: Readonly<Record<string, tables.Table>>;
  /** Method, path below `/api/auth`, and `public` for those without a token. */
  readonly routes: readonly string[];
  /** The options in `access.json`. */
  readonly code: Code;
  readonly note: string;
}

export interface Login {
  readonly plugin?: Plugin;
  /** The member of `providers` of `oidc`, and its name for people. */
  readonly provider?: string;
  readonly label?: string;
  readonly code?: Code;
  /** Lines of `.env`. */
  readonly environment?: string;
  /** Variables that production must set. */
  readonly variables?: readonly string[];
  /** A line of the README. */
  readonly note?: string;
}

export const indent = (text: string): string => text.replace(/^/gm, '  ');

const PASSKEYS: Plugin = {
  name: 'passkeys',
  call: () => "passkeys({ rpId: process.env['PASSKEY_DOMAIN'] || new URL(origin).hostname, origins })",
  entry: 'declarest-logins/passkeys',
  tables: tables.PASSKEYS,
  routes: [
    'POST passkeys/login/options public',
    'POST passkeys/login public',
    'POST passkeys/register/options public',
    'POST passkeys/register public',
    'POST passkeys/confirm/options',
    'POST passkeys/options',
    'POST passkeys',
    'GET passkeys',
    'PATCH passkeys/:id',
    'DELETE passkeys/:id',
  ],
  code: {},
  note: "- Passkeys: the front end registers users and logs them in as declarest's `docs/tasks/factors.md` shows. They belong to the domain `PASSKEY_DOMAIN`, which cannot change later.",
};

const SECOND_FACTOR: Plugin = {
  name: 'secondFactor',
  call: () => "secondFactor({ issuer: '{{NAME}}' })",
  entry: 'declarest-logins/second-factor',
  tables: tables.SECOND_FACTOR,
  routes: ['POST mfa/enrol', 'POST mfa/confirm', 'POST mfa/disable', 'POST mfa/codes', 'POST mfa/challenge public'],
  code: { 'secondFactor factor': 'requires a factor of users who have one' },
  note: "- Second factor: users set up an authenticator app at `POST /api/auth/mfa/enrol`, as declarest's `docs/tasks/factors.md` shows. Its secrets are encrypted by `JWT_SECRET`.",
};

const OIDC: Plugin = {
  name: 'oidc',
  call: (providers) => `oidc({\n  providers: {\n${indent(indent(providers.join('\n')))}\n  },\n})`,
  entry: 'declarest-logins/oidc',
  tables: tables.OIDC,
  routes: [
    'POST oidc/:id public',
    'POST oidc public',
    'GET identities',
    'POST identities',
    'POST identities/:id',
    'DELETE identities/:id',
  ],
  code: {},
  note: "- Providers: the page `/login/<provider>` of the front end finishes the login, as declarest's `docs/tasks/external-logins.md` shows. Production has the redirect URIs `<FRONT_END_ORIGIN>/login/<provider>` and, for /admin, `<ADMIN_ORIGIN>/admin/login/<provider>/`. Users who have an account link a provider at `POST /api/auth/identities/<provider>`.",
};

function provider(name: string, label: string, settings: readonly string[], setup: string, more: string[] = []): Login {
  const prefix = name.toUpperCase();
  const variables = [...more, 'CLIENT_ID', 'CLIENT_SECRET'].map((each) => `${prefix}_${each}`);
  const members = [
    ...settings,
    `clientId: setting('${prefix}_CLIENT_ID')`,
    `clientSecret: setting('${prefix}_CLIENT_SECRET')`,
    `redirectUris: pagesOf('${name}')`,
  ];
  return {
    plugin: OIDC,
    code: { [`oidc ${name}`]: /verifiedClaim: '(\w+)'/.exec(members.join())?.[1] ?? 'email_verified' },
    label,
    provider: `${name}: {\n${indent(members.map((each) => `${each},`).join('\n'))}\n},`,
    environment: [`# ${label}: ${setup}.`, ...variables.map((each) => `${each}=`)].join('\n'),
    variables,
    note: `- ${label}: ${setup}. Its redirect URIs are \`http://localhost:5173/login/${name}\` and \`http://localhost:3000/admin/login/${name}/\`. Set \`${variables.join('`, `')}\` in \`.env\`.`,
  };
}

export const LOGINS = {
  password: {},
  passkey: {
    plugin: PASSKEYS,
    environment:
      '# The domain of passkeys, which cannot change later. Empty: the host of FRONT_END_ORIGIN.\nPASSKEY_DOMAIN=',
  },
  'second-factor': { plugin: SECOND_FACTOR },
  google: provider(
    'google',
    'Google',
    ["issuer: 'https://accounts.google.com'"],
    'create an OAuth client of the type Web application in Google Cloud, Credentials',
  ),
  github: provider('github', 'GitHub', ["type: 'github'"], 'create an OAuth App in Developer settings'),
  entra: provider(
    'entra',
    'Microsoft Entra',
    ["issuer: `https://login.microsoftonline.com/${setting('ENTRA_TENANT')}/v2.0`", "verifiedClaim: 'xms_edov'"],
    'register an application for the platform Web, with a client secret and the optional claims `email` and `xms_edov`',
    ['TENANT'],
  ),
  keycloak: provider(
    'keycloak',
    'Keycloak',
    ["issuer: setting('KEYCLOAK_ISSUER', 'http://localhost:8080/realms/master')"],
    'create a client with Client authentication and Standard flow',
    ['ISSUER'],
  ),
} satisfies Record<string, Login>;

export type LoginName = keyof typeof LOGINS;
