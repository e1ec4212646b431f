/** What front ends show of the messages of the server. */
import { createClient, Failure } from 'declarest-client';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';

const API = 'http://shop.example/api';
const SAFE = '-9007199254740991 to 9007199254740991';
const INT64 = '-9223372036854775808 to 9223372036854775807';

const answering =
  (json: object, status = 400): typeof fetch =>
  async () =>
    Response.json(json, { status });

const failed = <T>(promise: Promise<unknown>): Promise<T> =>
  promise.then(
    () => {
      throw new Error('The call was expected to fail.');
    },
    (error: T) => error,
  );

/** The message and the errors of the fields, as each front end gets them for a record that is not valid. */
async function shown(errors: readonly { field: string; message: string }[]): Promise<[string[], object[]]> {
  const fields = Object.fromEntries(errors.map(({ field, message }) => [field, message]));
  const fetch = answering({ success: false, message: 'Cup is not valid', errors, fields });
  const [admin, other] = [reactAdmin.dataProvider(API, { fetch }), refine.dataProvider(API, { fetch })];
  const { message, body } = await failed<{ message: string; body: { errors: Record<string, unknown> } }>(
    admin.create('cups', { data: {} }),
  );
  const { root, ...own } = body.errors;
  expect(root).toEqual({ serverError: message });
  const created = await failed<{ errors: object }>(other.create({ resource: 'cups', variables: {} }));
  const listed = await failed<Error>(other.getList({ resource: 'cups' }));
  return [
    [message, listed.message],
    [own, created.errors],
  ];
}

it.each([
  ['price', 'must not be less than 0', 'price must not be less than 0', 'must not be less than 0'],
  ['price', 'price must not be less than 0', 'price must not be less than 0', 'price must not be less than 0'],
  ['price', 'prices must be low', 'price prices must be low', 'prices must be low'],
  [
    'stock',
    `must be an integer from ${SAFE}, got "x"`,
    'stock must be an integer, got "x"',
    'must be an integer, got "x"',
  ],
  [
    'id',
    `must be an integer from ${INT64}, as a string beyond 53 bits, got null`,
    'id must be an integer, got null',
    'must be an integer, got null',
  ],
  // A rule of the application.
  [
    'stars',
    'must be an integer from 1 to 5, got "x"',
    'stars must be an integer from 1 to 5, got "x"',
    'must be an integer from 1 to 5, got "x"',
  ],
  // Here the bounds are the reason.
  [
    'size',
    'must be an integer from 0 to 255, got 300',
    'size must be an integer from 0 to 255, got 300',
    'must be an integer from 0 to 255, got 300',
  ],
])('shows of the field %s and the message %j the text %j', async (field, message, text, atField) => {
  const [messages, fields] = await shown([{ field: field, message: message }]);
  expect([messages[0], messages[1]?.replace(/\.$/, '')]).toEqual([
    `Cup is not valid: ${text}`,
    `Cup is not valid: ${text}`,
  ]);
  expect(fields).toEqual([{ [field]: atField }, { [field]: atField }]);
});

it.each<[string, number, Record<string, string>]>([
  [
    'email: expected an e-mail address; password: expected at least 8 characters',
    400,
    { email: 'expected an e-mail address', password: 'expected at least 8 characters' },
  ],
  ['User with email a@b.example already exists', 400, { email: 'User with email a@b.example already exists' }],
  ['The request body is not a valid JSON object', 400, {}],
  ['Invalid credentials', 401, {}],
])('finds the fields of the account message %j', async (message, status, fields) => {
  const fetch = answering({ success: false, message }, status);
  const failure = await failed<Failure>(createClient(API, { fetch }).request('POST', 'auth/register', { json: {} }));
  expect([failure.message, failure.fields]).toEqual([message, fields]);
  const error = await failed<{ body: { errors?: object } }>(
    reactAdmin.dataProvider(API, { fetch }).custom('auth/register', { method: 'POST' }),
  );
  const expected = Object.keys(fields).length > 0 ? { ...fields, root: { serverError: message } } : undefined;
  expect(error.body.errors).toEqual(expected);
});
