// What the chosen ways to log in add to the files of the application.
import { ADMIN_ENVIRONMENT, adminLogins } from './admin-logins.js';
import { indent, LOGINS, type Login, type LoginName, type Plugin } from './logins.js';
import { SESSIONS, type Table, TOKENS } from './tables.js';

export interface ChosenLogins {
  /** Whether it needs `declarest-logins` and `src/logins.ts`. */
  readonly hasPlugins: boolean;
  readonly tables: readonly Table[];
  /** Routes below `/api/auth`: method, path, and `public` for those without a token. */
  readonly routes: readonly string[];
  /** Paths of the folder that `/admin` has too. */
  readonly adminPages: readonly string[];
  /** The options in `access.json`. */
  readonly code: Readonly<Record<string, string>>;
  /** Variables that production must set. */
  readonly variables: readonly string[];
  /** Whether the plugins need the origin of the front end. */
  readonly usesOrigin: boolean;
  /** For the placeholders of the template. */
  readonly texts: Readonly<Record<string, string>>;
}

/** What `src/logins.ts` reads. */
const SETTINGS = `import { frontEndOrigin, isProduction, port } from './environment.js';

/** Production must set the variable. Elsewhere a value that no provider knows lets the service start. */
const setting = (name: string, otherwise = name): string => process.env[name] || otherwise;
const origin = frontEndOrigin ?? setting('FRONT_END_ORIGIN');`;

const AUTH = `const auth = AuthModule.forRoot({
  userClass: User,
  jwtSecret,
  passwordPolicy,
  sessions: true,
  administration: true,
  plugins: logins,
});`;

export function chooseLogins(names: readonly LoginName[]): ChosenLogins {
  const logins: readonly Login[] = names.map((name) => LOGINS[name]);
  const plugins = [...new Set(logins.flatMap(({ plugin }) => plugin ?? []))];
  const own = { ...SESSIONS, ...(plugins.length > 0 && TOKENS) };
  const tables: Readonly<Record<string, Table>> = Object.assign({}, own, ...plugins.map((each) => each.tables));
  const entities = Object.keys(tables).toSorted();
  const calls = plugins.map(({ call }) => call(logins.flatMap(({ provider }) => provider ?? [])));
  const variables = logins.flatMap((login) => login.variables ?? []);
  const environment = logins.flatMap((login) => login.environment ?? []);
  const admin = adminLogins(names, logins);
  const usesOrigin = admin.settings.length > 0;
  const notes = [...plugins, ...logins].flatMap(({ note }) => note ?? []);
  return {
    hasPlugins: plugins.length > 0,
    tables: Object.values(tables),
    routes: plugins.flatMap(({ routes }) => routes),
    adminPages: admin.pages,
    code: Object.assign({}, ...[...plugins, ...logins].map(({ code }) => code)) as ChosenLogins['code'],
    variables,
    usesOrigin,
    texts: {
      LOGIN_ENVIRONMENT: [...(usesOrigin ? [ADMIN_ENVIRONMENT] : []), ...environment].join('\n'),
      LOGIN_NOTES: notes.join('\n'),
      LOGIN_VARIABLES: variables.map((name) => `\`${name}\`, `).join(''),
      ...(plugins.length > 0 && {
        ENTITY_IMPORTS: importsOf([{ entry: 'declarest', tables: own }, ...plugins], (each) =>
          Object.keys(each.tables),
        ),
        ENTITIES: list('entities: [', [...entities, '`${import.meta.dirname}/**/*.entity.js`'], '],', 2),
        LOGINS_IMPORT: "import { logins } from './logins.js';",
        AUTH,
        PLUGIN_IMPORTS: importsOf(plugins, (each) => [each.name]),
        SETTINGS: usesOrigin ? [SETTINGS, ...admin.settings].join('\n') : '',
        ...admin.texts,
        LOGINS: [list('export const logins = [', calls, '];'), ...(admin.offer ? [admin.offer] : [])].join('\n\n'),
      }),
    },
  };
}

/** One import for each entry. */
const importsOf = <T extends Pick<Plugin, 'entry'>>(
  from: readonly T[],
  namesOf: (each: T) => readonly string[],
): string => from.map((each) => `import { ${namesOf(each).join(', ')} } from '${each.entry}';`).join('\n');

/** On one line of at most 120 characters, or each name on a line of its own. @param column where it starts */
export function list(start: string, names: readonly string[], end: string, column = 0): string {
  const line = `${start}${names.join(', ')}${end}`;
  if (column + line.length <= 120) return line;
  return `${start.trimEnd()}\n${indent(names.map((name) => `${name},`).join('\n'))}\n${end.trimStart()}`;
}
