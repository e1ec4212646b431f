/** Which changes of a document break clients. */
import { compareDocuments, type ApiDocument, type Schema } from '../../lib/cli/document-changes.js';

interface Parts {
  readonly sent?: Schema;
  readonly answered?: Schema;
  readonly parameters?: readonly object[];
  readonly answers?: object;
  readonly schemas?: Readonly<Record<string, Schema>>;
}

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });

const documentOf = ({ sent, answered, parameters = [], answers = {}, schemas = {} }: Parts): ApiDocument => ({
  openapi: '3.1.0',
  paths: {
    '/a/{id}': {
      post: {
        parameters: parameters as never,
        ...(sent && { requestBody: { required: true, ...json(sent) } }),
        responses: { ...(answered && { 200: json(answered) }), ...answers },
      },
    },
  },
  components: { schemas },
});

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const text = { type: 'string' };
const query = (name: string, schema: Schema, required = false) => ({ in: 'query', name, schema, required });
const Node = (more: Readonly<Record<string, Schema>>) =>
  object({ name: text, next: { $ref: '#/components/schemas/Node' }, ...more });

it.each<[what: string, before: Parts, after: Parts, changes: string[]]>([
  ['nothing', { sent: text }, { sent: text }, []],
  [
    'a body that is a narrower type',
    { sent: { type: ['string', 'null'] } },
    { sent: text },
    ['! body: null is not accepted any more'],
  ],
  ['a body that is a wider type', { sent: text }, { sent: { type: ['string', 'null'] } }, []],
  ['an integer where a number was answered', { answered: { type: 'number' } }, { answered: { type: 'integer' } }, []],
  ['a number where an integer was sent', { sent: { type: 'integer' } }, { sent: { type: 'number' } }, []],
  [
    'an answer of another type',
    { answered: text },
    { answered: { anyOf: [text, { type: 'null' }] } },
    ['! answer 200: may be null now'],
  ],
  [
    'a value that is gone',
    { sent: { enum: ['a', 'b'] } },
    { sent: { enum: ['a'] } },
    ['! body: "b" is not accepted any more'],
  ],
  ['values of a text', { sent: text }, { sent: { ...text, enum: ['a'] } }, ['! body: accepts only "a" now']],
  [
    'a new value of an answer',
    { answered: { enum: ['a'] } },
    { answered: { enum: ['a', 'b'] } },
    ['answer 200: may be "b" now'],
  ],
  [
    'a value that is never answered',
    { answered: { enum: ['a', 'b'] } },
    { answered: { enum: ['a'] } },
    ['! answer 200: is never "b" any more'],
  ],
  [
    'a lower limit',
    { sent: { ...text, maxLength: 9 } },
    { sent: { ...text, maxLength: 8 } },
    ['! body: maxLength is 8, was 9'],
  ],
  [
    'a higher limit',
    { sent: { ...text, maxLength: 9 } },
    { sent: { ...text, maxLength: 10 } },
    ['body: maxLength is 10, was 9'],
  ],
  [
    'a new minimum',
    { sent: { type: 'integer' } },
    { sent: { type: 'integer', minimum: 1 } },
    ['! body: minimum is 1, was none'],
  ],
  ['a new pattern', { sent: text }, { sent: { ...text, pattern: 'a' } }, ['! body: has another pattern']],
  [
    'a field that is required',
    { sent: object({ a: text }) },
    { sent: object({ a: text }, ['a']) },
    ['! body: a is required now'],
  ],
  ['a new field', { sent: object({}) }, { sent: object({ a: text }) }, ['body: a is new']],
  [
    'a field that cannot be sent',
    { sent: object({ a: text }) },
    { sent: object({}) },
    ['! body: a is not accepted any more'],
  ],
  [
    'a field that is not answered',
    { answered: object({ a: text }) },
    { answered: object({}) },
    ['! answer 200: a was removed'],
  ],
  [
    'a field that may be missing',
    { answered: object({ a: text }, ['a']) },
    { answered: object({ a: text }) },
    ['! answer 200: a may be missing now'],
  ],
  [
    'a field that is answered too',
    { answered: object({}) },
    { answered: object({ a: text }) },
    ['answer 200: a is new'],
  ],
  [
    'items',
    { answered: { type: 'array', items: object({ a: text }) } },
    { answered: { type: 'array', items: object({}) } },
    ['! answer 200: [].a was removed'],
  ],
  ['a parameter that is gone', { parameters: [query('a', text)] }, {}, ['! query a: was removed']],
  [
    'a parameter that is required',
    { parameters: [query('a', text)] },
    { parameters: [query('a', text, true)] },
    ['! query a: is required now'],
  ],
  [
    'a new parameter',
    {},
    { parameters: [query('a', text), query('b', text, true)] },
    ['! query b: is new and required', 'query a: is new'],
  ],
  [
    'a narrower parameter',
    { parameters: [query('a', { enum: ['x', 'y'] })] },
    { parameters: [query('a', { enum: ['x'] })] },
    ['! query a: "y" is not accepted any more'],
  ],
  [
    'another failure',
    { answers: { 400: json(text) } },
    { answers: { 409: json(text) } },
    ['answer 400: was removed', 'answer 409: is new'],
  ],
  ['a success that is gone', { answers: { 207: json(text) } }, {}, ['! answer 207: was removed']],
  ['a body that is gone', { sent: text }, {}, ['! body: application/json was removed']],
  [
    'a schema that refers to itself',
    { answered: { $ref: '#/components/schemas/Node' }, schemas: { Node: Node({ a: text }) } },
    { answered: { $ref: '#/components/schemas/Node' }, schemas: { Node: Node({}) } },
    ['! answer 200: a was removed'],
  ],
])('%s', (_what, before, after, changes) => {
  const found = compareDocuments(documentOf(before), documentOf(after));
  expect(found.map(({ breaks, text: said }) => `${breaks ? '! ' : ''}${said.replace('POST /a/{}, ', '')}`)).toEqual(
    changes,
  );
});

it('operations that are gone break clients, new ones do not, and the name of a path parameter does not matter', () => {
  const document = (...routes: readonly string[]): ApiDocument => ({
    openapi: '3.1.0',
    paths: Object.fromEntries(routes.map((path) => [path, { get: {} }])),
  });
  expect(compareDocuments(document('/a/{id}', '/b'), document('/a/{key}', '/c'))).toEqual([
    { breaks: true, text: 'GET /b: was removed' },
    { breaks: false, text: 'GET /c: is new' },
  ]);
});
