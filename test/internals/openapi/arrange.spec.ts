/** How a document is arranged: what is shared, and what stays where readers look for it. */
import type { OpenAPIObject } from '@nestjs/swagger';
import { arrange } from '../../../lib/openapi/arrange.js';

const TIMESTAMP = { type: 'string', examples: ['2026-01-31T09:30:15.123'] };
const AUTHOR = { anyOf: [{ $ref: '#/components/schemas/User' }, { type: 'null' }], description: 'Where included.' };
const ADDRESS = { type: 'object', properties: { street: { type: 'string', maxLength: 100 } }, required: ['street'] };
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };

const operation = (tag: string, parameters: object[] = []) => ({
  tags: [tag],
  parameters,
  responses: {
    200: {
      description: tag,
      content: { 'application/json': { schema: { type: 'object', properties: { timestamp: TIMESTAMP } } } },
    },
  },
});

const arranged = (paths: object, schemas: object) =>
  arrange({ openapi: '3.1.0', info: {}, paths, components: { schemas } } as OpenAPIObject);

it('shares values under a name that no schema of the application has', () => {
  const { components } = arranged(
    Object.fromEntries(['A', 'B', 'C', 'D'].map((tag) => [`/${tag}`, { get: operation(tag) }])),
    { Timestamp: { type: 'object', properties: { id: { type: 'integer' } } } },
  );
  expect(components?.schemas).toEqual({
    Timestamp: { type: 'object', properties: { id: { type: 'integer' } } },
    Timestamp2: TIMESTAMP,
  });
});

it('leaves relations and embedded objects in the records', () => {
  const record = { type: 'object', properties: { author: AUTHOR, address: ADDRESS, timestamp: TIMESTAMP } };
  const schemas = { One: record, Two: record, Three: record, Four: record, User: ADDRESS };
  const { Timestamp, ...records } = arranged({}, schemas).components?.schemas ?? {};
  const left = {
    ...record,
    properties: { ...record.properties, timestamp: { $ref: '#/components/schemas/Timestamp' } },
  };
  expect(records).toEqual({ One: left, Two: left, Three: left, Four: left, User: ADDRESS });
  expect(Timestamp).toEqual(TIMESTAMP);
});

it('moves path parameters to the path only where all operations have the same ones', () => {
  const text = { ...ID, schema: { type: 'string' } };
  const { paths } = arranged(
    {
      '/same/{id}': { get: operation('A', [ID]), put: operation('B', [ID]) },
      '/other/{id}': { get: operation('C', [ID]), put: operation('D', [text]) },
    },
    {},
  );
  const parameters = Object.values(paths).map((item) => [item.parameters, item.get?.parameters, item.put?.parameters]);
  const [shared] = parameters[0]?.[0] ?? [];
  expect(parameters).toEqual([
    [[shared], undefined, undefined],
    [undefined, [shared], [text]],
  ]);
});
