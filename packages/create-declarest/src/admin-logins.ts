// What the login page of `/admin` has besides the password: passkeys and the pages that providers send people back to.
import type { Login } from './logins.js';

/** `origin` is that of the front end. */
const ADMIN_ORIGIN = `/** Where people open /admin. In production, its login page has a password alone unless the variable is set. */
const adminOrigin = process.env['ADMIN_ORIGIN'] || (isProduction ? undefined : \`http://localhost:\${port}\`);`;

const ORIGINS = 'const origins = adminOrigin ? [origin, adminOrigin] : [origin];';

const PAGES = `/** The pages that a provider sends people back to. */
const pagesOf = (provider: string): string[] => [
  \`\${origin}/login/\${provider}\`,
  ...(adminOrigin ? [\`\${adminOrigin}/admin/login/\${provider}/\`] : []),
];`;

export const ADMIN_ENVIRONMENT =
  '# Where people open /admin. Empty: http://localhost with the port, and none in production.\nADMIN_ORIGIN=';

interface AdminLogins {
  /** A constant that `src/logins.ts` exports. */
  readonly offer: string | undefined;
  /** Constants of `src/logins.ts`. */
  readonly settings: readonly string[];
  /** For the placeholders of the template. */
  readonly texts: Readonly<Record<string, string>>;
  /** Paths of pages. */
  readonly pages: readonly string[];
}

export function adminLogins(names: readonly string[], logins: readonly Login[]): AdminLogins {
  const providers = names.filter((_, index) => logins[index]?.label);
  const labels = logins.flatMap(({ label }, index) => (label ? [`${names[index]}: '${label}'`] : []));
  const hasPasskeys = names.includes('passkey');
  if (!hasPasskeys && providers.length === 0) return { offer: undefined, settings: [], texts: {}, pages: [] };
  const members = [
    ...(hasPasskeys ? ['passkeys: adminOrigin !== undefined'] : []),
    ...(providers.length > 0 ? [`providers: adminOrigin ? { ${labels.join(', ')} } : {}`] : []),
  ];
  return {
    offer: `/** What the login page of /admin has besides the password. */\nexport const adminLogins = {\n${members.map((each) => `  ${each},\n`).join('')}};`,
    settings: [ADMIN_ORIGIN, ...(hasPasskeys ? [ORIGINS] : []), ...(providers.length > 0 ? [PAGES] : [])],
    texts: {
      ADMIN_IMPORT: "import { adminLogins } from './logins.js';",
      ADMIN_LOGINS: "'/admin/logins.json': () => adminLogins,",
      ...(providers.length > 0 && {
        ADMIN_PAGES:
          "for (const name of Object.keys(adminLogins.providers)) serveFolder(app, `/admin/login/${name}`, ADMIN, 'assets');",
      }),
    },
    pages: providers.map((name) => `/admin/login/${name}`),
  };
}
