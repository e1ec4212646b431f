/** Custom operations that write what no client may, with bodies that are checked. */
import { type CanActivate, type ExecutionContext, Patch, type Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { CrudController, standardOperations, type CustomOperation, type HookValues, type JsonObject } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { DATABASES, emptyTables } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { crudError, type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Rental {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 20, nullable: true }) ownerId!: string | null;
  @Column({ length: 20 }) bike!: string;
  @Column({ type: 'varchar', length: 10, nullable: true }) station!: string | null;
  @Column({ type: 'int', nullable: true }) price!: number | null;
  @Column({ type: 'int', default: 1 }) city!: number;
  @VersionColumn() version!: number;
}

const returnBike: CustomOperation<Rental> = {
  name: 'returnBike',
  route: { verb: 'POST', path: ':id/return', status: 200 },
  description: {
    summary: 'Take a bike back',
    body: {
      type: 'object',
      properties: {
        station: { type: 'string', minLength: 2, maxLength: 12 },
        minutes: { type: 'integer', minimum: 1 },
      },
      required: ['station'],
    },
    message: 'Bike returned',
    tool: 'return{one}',
    data: 'record',
  },
  async run({ resource }, { id, body: { station, minutes = 10 } }) {
    const values = { station: String(station), price: Number(minutes) * 2 };
    return (await resource.patch(id, values, { as: 'server' })).data;
  },
};

const open: CustomOperation<Rental> = {
  name: 'open',
  route: { verb: 'POST', path: 'open' },
  description: { summary: 'Open a rental', body: { type: 'object' }, data: 'record' },
  run: ({ insert }, { body }) => insert(body as HookValues<Rental>),
};

const asClient: CustomOperation<Rental> = {
  name: 'asClient',
  route: { verb: 'PATCH', path: ':id/as-client' },
  description: { summary: 'Patch as the client', body: { type: 'object' }, data: 'record' },
  run: async ({ resource }, { id, body }) => (await resource.patch(id, body)).data,
};

const reprice: CustomOperation<Rental> = {
  name: 'reprice',
  route: { verb: 'PATCH', path: ':id/price' },
  description: { summary: 'Compute the price again', data: 'record' },
  run: async ({ resource }, { id }) => (await resource.patch(id, { price: 1 }, { as: 'server' })).data,
};

const sent: JsonObject[] = [];

class RentalsController extends CrudController({
  entity: Rental,
  endpoint: '/rentals',
  operations: [...standardOperations, returnBike, open, asClient, reprice],
  owner: { field: 'ownerId', except: ['STAFF'] },
  scope: ({ user }) => user?.roles.includes('STAFF') || { city: 1 },
  fieldPermissions: { price: { write: 'never' }, station: { write: 'never' }, city: { read: 'never', write: 'never' } },
}) {
  // A field that only instances of this class have: operations must run on the controller itself.
  readonly #name = 'rentals';
  @Patch(':id')
  override patch(id: string, body: JsonObject): never {
    sent.push({ ...body, controller: this.#name });
    return super.patch(id, body) as never;
  }
  override beforeUpdate(_id: number, values: HookValues<Rental>): object {
    return { bike: `${values.bike ?? 'bike'}!` };
  }
}

class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    const [id, ...roles] = (request.headers['x-user'] ?? '').split(':');
    if (id) request.user = { id, email: '', roles };
    return true;
  }
}
const guard: Provider = { provide: APP_GUARD, useClass: HeaderGuard };

const PLACES = ONE_PLATFORM.flatMap((platform) => DATABASES.map((database) => ({ platform, database })));

describe.each(PLACES)('[8.9] [issue 16] changes of the server on $platform and $database', ({ platform, database }) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      database,
      entities: [Rental],
      resources: [RentalsController],
      providers: [guard],
    });
  });
  beforeEach(async () => {
    await emptyTables(service.dataSource, database);
    const rows = [
      { ownerId: 'ann', bike: 'a' },
      { ownerId: 'ben', bike: 'b' },
      { ownerId: 'ann', bike: 'c', city: 2 },
    ];
    await service.dataSource.getRepository(Rental).insert(rows);
  });
  afterAll(() => service.close());

  const send = (method: string, path: string, json: object, user = 'ann', headers = {}) =>
    service.send(method, `/rentals${path}`, { json, headers: { 'x-user': user, ...headers } });

  it('write columns that no client may, and run hooks', async () => {
    expect(wrongFields(await send('PATCH', '/1', { price: 5 }))).toEqual(['price']);
    sent.length = 0;
    const { status, json } = await send('POST', '/1/return', { station: 'north', minutes: 7 });
    expect([status, json.message, json.data]).toEqual([
      200,
      'Bike returned',
      { id: 1, ownerId: 'ann', bike: 'bike!', station: 'north', price: 14, version: 2 },
    ]);
    expect(sent).toEqual([]);
    // Without the option, the resource is that of the client, with its overrides.
    expect(wrongFields(await send('PATCH', '/1/as-client', { price: 5 }))).toEqual(['price']);
    expect((await send('PATCH', '/1/as-client', { bike: 'x' })).json.data.bike).toBe('x!');
    expect(sent).toEqual([
      { price: 5, controller: 'rentals' },
      { bike: 'x', controller: 'rentals' },
    ]);
  });

  it('keep to the scope, the owner and If-Match of the caller', async () => {
    expect((await send('POST', '/3/return', { station: 'north' })).status).toBe(404);
    expect((await send('POST', '/2/return', { station: 'north' })).status).toBe(403);
    expect((await send('POST', '/2/return', { station: 'north' }, 'eve:STAFF')).status).toBe(200);
    const stale = { 'if-match': '"9"' };
    expect((await send('PATCH', '/1/price', {}, 'ann', stale)).status).toBe(412);
    expect((await send('POST', '/open', { bike: 'd' }, '')).status).toBe(401);
    // A record that the caller would not see.
    expect((await send('POST', '/open', { bike: 'd', city: 2 })).status).toBe(403);
    const rows = await service.dataSource.getRepository(Rental).find({ order: { id: 'ASC' } });
    expect(rows.map(({ price }) => price)).toEqual([null, 20, null]);
  });

  it('insert with the columns that the server sets, checked by type and constraint', async () => {
    const { status, json } = await send('POST', '/open', { bike: 'd', price: 3, station: 'south' });
    expect([status, json.data]).toEqual([
      201,
      { id: json.data.id, ownerId: 'ann', bike: 'd', station: 'south', price: 3, version: 1 },
    ]);
    expect((await send('POST', '/open', { bike: 'd', ownerId: 'ben' })).json.data.ownerId).toBe('ben');
    const wrong = await send('POST', '/open', {
      bike: 'd',
      price: 'much',
      station: 'longer than ten',
      id: 7,
      colour: 'red',
    });
    expect([wrong.status, wrongFields(wrong)]).toEqual([400, ['colour', 'id', 'price', 'station']]);
    expect(wrongFields(await send('POST', '/open', {}))).toEqual(['bike']);
    // The schema of the body allows it, the column does not.
    expect(wrongFields(await send('POST', '/1/return', { station: 'longer than' }))).toEqual(['station']);
  });

  it('check the body by its schema, and name each wrong field', async () => {
    const cases: [object, string[]][] = [
      [{}, ['station']],
      [{ station: 5 }, ['station']],
      [{ station: 'x' }, ['station']],
      [{ station: 'north', minutes: 0 }, ['minutes']],
      [{ station: 'north', minutes: 1.5, extra: true }, ['extra', 'minutes']],
    ];
    for (const [body, names] of cases) {
      const answer = await send('POST', '/1/return', body);
      expect([body, answer.status, wrongFields(answer)]).toEqual([body, 400, names]);
    }
    const { json } = await send('POST', '/1/return', { minutes: 'many' });
    const fields = { station: 'is required', minutes: 'must be of type integer, got "many"' };
    expect(json).toMatchObject({ success: false, message: 'The body is not valid', fields });
  });

  it('have the message and the name of the tool that are declared', () => {
    const { paths } = SwaggerModule.createDocument(service.app, new DocumentBuilder().build());
    const { post } = paths['/rentals/{id}/return'] as { post: { operationId: string; requestBody: object } };
    expect(post.operationId).toBe('returnRental');
    expect(JSON.stringify(post.requestBody)).toContain('"additionalProperties":false');
    expect(paths['/rentals/open']?.post?.operationId).toBe('openRentals');
  });
});

describe.each(ONE_PLATFORM)('[8.9] [issue 16] schemas of bodies on %s', (platform) => {
  const operation = (body: object): CustomOperation => ({
    name: 'check',
    route: { verb: 'POST', path: 'check', status: 200 },
    description: { summary: 'Check', body: { type: 'object', ...body }, data: { type: 'null' } },
    run: () => null,
  });
  const resource = (body: object) => ({
    entity: Rental,
    endpoint: '/rentals',
    operations: ['findAll', operation(body)],
  });

  it.each<[object, object, string[]]>([
    [
      { items: { type: 'array', minItems: 1, items: { type: 'integer', exclusiveMinimum: 0 } } },
      { items: [1, 0, 'x'] },
      ['items.1', 'items.2'],
    ],
    [{ items: { type: 'array', minItems: 1 } }, { items: [] }, ['items']],
    [{ kind: { enum: ['a', 2, null] } }, { kind: 'b' }, ['kind']],
    [{ kind: { const: { a: [1] } } }, { kind: { a: [2] } }, ['kind']],
    [{ at: { type: 'string', format: 'date-time' } }, { at: 'soon' }, ['at']],
    [{ day: { type: ['string', 'null'], format: 'date' } }, { day: '2026-02-30' }, ['day']],
    [{ code: { type: 'string', pattern: '^[A-Z]{2}$' } }, { code: 'aB' }, ['code']],
    [{ text: { type: 'string', maxLength: 2 } }, { text: '😀😀😀' }, ['text']],
    [
      { at: { type: 'object', required: ['x'], properties: { x: { type: 'number' } }, additionalProperties: false } },
      { at: { y: 1 } },
      ['at.x', 'at.y'],
    ],
  ])('%j refuses %j', async (properties, body, names) => {
    const service = await startCrud(platform, { entities: [Rental], resources: [resource({ properties })] as never });
    try {
      const answer = await service.post('/rentals/check', body);
      expect([answer.status, wrongFields(answer)]).toEqual([400, names]);
    } finally {
      await service.close();
    }
  });

  it.each<[object, object]>([
    [
      { properties: { a: { type: 'integer' } }, additionalProperties: true },
      { a: 1, b: 2 },
    ],
    [{ properties: { a: { type: ['integer', 'null'] } } }, { a: null }],
    [{ additionalProperties: { type: 'string', maxLength: 3 } }, { a: 'abc' }],
    [{ properties: { text: { type: 'string', maxLength: 2 }, any: {} } }, { text: '😀😀', any: [{}] }],
    [{ properties: { constructor: { type: 'string' } } }, {}],
  ])('%j accepts %j', async (schema, body) => {
    const service = await startCrud(platform, {
      entities: [Rental],
      resources: [resource(schema)] as never,
      // Ajv reads the inherited `constructor` of a body as a property of it.
      isDescribed: !JSON.stringify(schema).includes('constructor'),
    });
    try {
      expect((await service.post('/rentals/check', body)).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  it.each([
    [{ oneOf: [] }, 'oneOf'],
    [{ properties: { a: { $ref: '#/x' } } }, '$ref'],
    [{ properties: { a: { type: 'text' } } }, 'text'],
    [{ properties: { a: { items: { format: 'email' } } } }, 'email'],
    [{ additionalProperties: { not: {} } }, 'not'],
  ])('%j refuses to start', async (schema, name) => {
    const { message } = await crudError(platform, {
      entities: [Rental],
      resources: (() => [resource(schema)]) as never,
    });
    expect(message).toContain(`operations.check.description.body`);
    expect(message).toContain(`got "${name}"`);
  });
});
