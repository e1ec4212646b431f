/** Feathers on Koa with Knex, as in its documentation. */
import { authenticate, AuthenticationService, JWTStrategy } from '@feathersjs/authentication';
import { Forbidden } from '@feathersjs/errors';
import { feathers, type HookContext } from '@feathersjs/feathers';
import { bodyParser, errorHandler, koa, parseAuthentication, rest } from '@feathersjs/koa';
import { KnexService } from '@feathersjs/knex';
import { Ajv, getValidator, hooks } from '@feathersjs/schema';
import knex from 'knex';
import { regexRules } from './rules.js';
import { reportPort } from './serve.js';
import { DATABASE, PRODUCTS, PROTECTED, SECRET } from './settings.js';

const validator = getValidator(
  {
    $id: 'Product',
    type: 'object',
    additionalProperties: false,
    required: ['name', 'description', 'price', 'stock', 'active'],
    properties: {
      name: { type: 'string', maxLength: 120 },
      description: { type: 'string' },
      price: { type: 'number' },
      stock: { type: 'integer' },
      active: { type: 'boolean' },
    },
  } as const,
  new Ajv(),
);

const database = knex({
  client: 'better-sqlite3',
  connection: { filename: DATABASE },
  useNullAsDefault: true,
  pool: {
    min: 1,
    max: 1,
    afterCreate(connection: { pragma(statement: string): void }, done: () => void) {
      connection.pragma('journal_mode = WAL');
      connection.pragma('synchronous = NORMAL');
      done();
    },
  },
});

const app = koa(feathers());
app.use(errorHandler());
app.use(parseAuthentication());
app.use(bodyParser());
app.configure(rest());

app.set('authentication', {
  secret: SECRET,
  entity: null,
  authStrategies: ['jwt'],
  jwtOptions: { audience: '', issuer: '', algorithm: 'HS256' },
});
const authentication = new AuthenticationService(app as never);
authentication.register('jwt', new JWTStrategy());
app.use('authentication' as never, authentication as never);

/** SQLite has neither booleans nor dates. */
function read({ result }: HookContext): void {
  const rows: Record<string, unknown>[] = Array.isArray(result.data) ? result.data : [result];
  for (const row of rows) {
    row['active'] = row['active'] === 1;
    row['createdAt'] = `${String(row['createdAt']).replace(' ', 'T')}.000Z`;
  }
}

/** The driver of SQLite refuses booleans. */
function write(context: HookContext): void {
  context.data = { ...context.data, active: context.data.active ? 1 : 0 };
}

function applyRules({ params, id }: HookContext): void {
  const path = `${PROTECTED}/${id}`;
  const { role } = regexRules.find((rule) => rule.path.test(path)) ?? {};
  if (role && !params['authentication'].payload.roles.includes(role)) throw new Forbidden('Admin access required');
}

const options = { Model: database, name: 'products', paginate: { default: 20, max: 100 } };
const validated = [hooks.validateData(validator as never), write];

app.use(PRODUCTS as never, new KnexService(options) as never, {
  methods: ['find', 'get', 'create', 'patch', 'remove'],
});
app
  .service(PRODUCTS as never)
  .hooks({ before: { create: validated, patch: validated }, after: { all: [read] } } as never);
app.use(PROTECTED as never, new KnexService(options) as never, { methods: ['get'] });
app
  .service(PROTECTED as never)
  .hooks({ before: { all: [authenticate('jwt'), applyRules] }, after: { all: [read] } } as never);

const server = await app.listen(0, '127.0.0.1');
server.once('listening', () => reportPort((server.address() as { port: number }).port));
