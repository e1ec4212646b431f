/** Adds to an OpenAPI document who has access to each operation. */
import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AccessReport } from '../access/access-rules.js';
import type { AccessRow } from '../access/access-rows.js';
import { ANY_OTHER_METHOD } from '../access/route-access.js';
import { DEPENDS_ON_USER } from '../documents/describe-controller.js';
import { REFUSAL, refused } from '../documents/failures.js';
import { CallerRoles, CREDENTIAL_ROLES } from '../http/caller.js';
import { AccessRefused } from '../http/refusal.js';
import { SourceReader } from '../access/identity/source-reader.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import { applicationOf } from '../routes/application.js';
import { arrange, type DocumentOperation } from './arrange.js';

const SCHEME = 'bearer';
const VERBS = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head'];
const isBearer = (each: object): boolean => 'scheme' in each && String(each.scheme).toLowerCase() === 'bearer';
const BEARER = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
/** The security scheme of applications whose plugin has keys. */
const KEY_SCHEME = 'apiKey';
const KEY = { type: 'http', scheme: 'bearer', description: 'An API key, which is sent as a token.' };

/**
 * Adds to every operation of the application, generated or not, what the access rules decide: `security`, the answers
 * 401 and 403, and `x-access` with the access and the deciding rule. A public operation has `security: []`, or an
 * optional token where that changes the answer. Operations, tags and repeated parts are arranged.
 * @param document of `SwaggerModule.createDocument`, with OpenAPI 3.1; it is not changed
 * @param app after its start: the rules are read then
 * @throws InvalidOptionError for another version of OpenAPI, before the start, and without access rules
 * @example SwaggerModule.setup('docs', app, () => addAccess(SwaggerModule.createDocument(app, config), app));
 */
export function addAccess(document: OpenAPIObject, app: INestApplication): OpenAPIObject {
  const { openapi, components, paths } = document;
  if (!openapi.startsWith('3.1'))
    refuse('a document of OpenAPI 3.1', openapi, "Call setOpenAPIVersion('3.1.0') of DocumentBuilder");
  const rows = rowsOf(app);
  const known = components?.securitySchemes ?? {};
  // Users of AccessModule may have another credential, such as a cookie.
  const source = applicationOf(app).providerOf(SourceReader)?.source;
  const place = source?.credential;
  const login = place ? { type: 'apiKey', ...place } : BEARER;
  const isLogin = (each: object): boolean => (place ? 'in' in each && each.in === place.in : isBearer(each));
  const declared = Object.entries(known);
  const other = source && !place ? declared[0] : undefined;
  const [scheme] = declared.find(([, each]) => isLogin(each)) ?? other ?? [place?.in ?? SCHEME];
  const { hasKeys } = applicationOf(app).stateOf(CallerRoles);
  const schemes = { login: scheme, key: hasKeys ? KEY_SCHEME : undefined };
  const described = Object.entries(paths).map(([path, item]) => {
    const operations = { ...(item as Readonly<Record<string, DocumentOperation>>) };
    for (const [method, operation] of Object.entries(operations))
      if (VERBS.includes(method)) operations[method] = withAccess(operation, rowsServing(rows, method, path), schemes);
    return [path, operations];
  });
  const schemas = { ...components?.schemas, [REFUSAL.name]: REFUSAL.schema };
  const securitySchemes = { [scheme]: login, ...(hasKeys && { [KEY_SCHEME]: KEY }), ...known };
  return arrange({
    ...document,
    paths: Object.fromEntries(described) as OpenAPIObject['paths'],
    components: { ...components, schemas, securitySchemes } as NonNullable<OpenAPIObject['components']>,
  });
}

function refuse(expected: string, got: string, advice: string): never {
  throw new InvalidOptionError('The argument of addAccess()', expected, got, advice);
}

function rowsOf(app: INestApplication): readonly AccessRow[] {
  const report = applicationOf(app).providerOf(AccessReport);
  if (!report)
    return refuse(
      'an application with access rules',
      'one without',
      'Import AuthModule or AccessModule in its root module',
    );
  if (report.rows.length > 0) return report.rows;
  const advice = 'Call it in the function that SwaggerModule.setup takes, or after app.init()';
  return refuse('an application that has started', 'one that has not', advice);
}

/** `/products/:id` and `/products/{id}` are one path. */
const templateOf = (path: string): string => path.replaceAll(/[:*](\w+)/g, '{$1}').replace(/(.)\/$/, '$1');

/** The row of the route that serves an operation, and those of parts of its paths that rules tell apart. */
function rowsServing(rows: readonly AccessRow[], method: string, path: string): readonly AccessRow[] {
  const routeRows = rows.filter(({ template }) => templateOf(template) === templateOf(path));
  const own = routeRows.filter((row) => row.method === (method === 'head' ? 'GET' : method.toUpperCase()));
  return own.length > 0 ? own : routeRows.filter((row) => row.method === ANY_OTHER_METHOD);
}

/** The names of the security schemes of logins, and of keys if there are any. */
interface Schemes {
  readonly login: string;
  readonly key: string | undefined;
}

function withAccess(described: DocumentOperation, rows: readonly AccessRow[], schemes: Schemes): DocumentOperation {
  const { [DEPENDS_ON_USER]: dependsOnUser, ...operation } = described;
  const row = rows.find(({ path, template }) => path === template);
  const parts = rows.filter(({ path, template }) => path !== template);
  if (!row) return operation;
  const isOpen = (each: AccessRow): boolean => each.access === 'public';
  // A token that a part requires, or that changes the answer, may be sent.
  const changes = [dependsOnUser, operation['security']].some((each) => (Array.isArray(each) ? each.length > 0 : each));
  const optional = parts.some((part) => isOpen(part) !== isOpen(row)) || (isOpen(row) && changes);
  const credentials = credentialsFor([row, ...parts], schemes).map((scheme) => ({ [scheme]: [] }));
  const security = [...(optional ? [{}] : []), ...(isOpen(row) && !optional ? [] : credentials)];
  const closed = [row, ...parts].filter((each) => !isOpen(each));
  const missing = closed.find(({ access, requirements }) => requirements.length > 0 || access === 'nobody');
  const answers = {
    ...(closed.length > 0 && { 401: refused(401, 'Authentication required') }),
    ...(missing && { 403: refused(403, new AccessRefused(rolesIn(missing)).message) }),
  };
  const partAccess = parts.map((part) => ({ path: part.path, ...accessOf(part) }));
  const access = { ...accessOf(row), ...(parts.length > 0 && { parts: partAccess }) };
  const responses = { ...(answers as DocumentOperation['responses']), ...operation.responses };
  return { ...operation, security, responses, 'x-access': access };
}

/** Each of them is sufficient for one of the rows. */
function credentialsFor(rows: readonly AccessRow[], { login, key }: Schemes): string[] {
  const needs = ({ requirements }: AccessRow, role: string): boolean =>
    requirements.some((anyOf) => anyOf.every((each) => each === role));
  const takesKeys = rows.some((row) => !needs(row, CREDENTIAL_ROLES.login));
  const takesLogins = key === undefined || rows.some((row) => !needs(row, CREDENTIAL_ROLES.key));
  return [...(takesLogins ? [login] : []), ...(key !== undefined && takesKeys ? [key] : [])];
}

const rolesIn = ({ requirements }: AccessRow): string[] =>
  (requirements[0] ?? []).map((name) => name.replace(/^policy /, ''));

/** The narrowest rule decides. */
const accessOf = ({ access, rules }: AccessRow) => ({ access, rule: rules.at(-1) ?? 'default' });
