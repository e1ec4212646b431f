import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  type LoggerService,
  NotFoundException,
  UnauthorizedException,
} from '@nestjs/common';
import { Logger } from '@nestjs/common';
import { failureOf, platformStatusOf, UnreadableBody } from '../../../lib/http/failure.js';
import { AccessRefused, AuthenticationRequired } from '../../../lib/http/refusal.js';
import { refusal } from '../../harness/refusal.js';

const unreadable = (status: number, message: string): UnreadableBody =>
  new UnreadableBody(parserError(status, message));
const parserError = (status: number, message: string): Error => Object.assign(new Error(message), { status });

describe('the description of a failure', () => {
  let logged: unknown[];
  beforeEach(() => {
    logged = [];
    const error = (...line: unknown[]): void => void logged.push(line);
    Logger.overrideLogger({ error } as unknown as LoggerService);
  });
  afterAll(() => Logger.overrideLogger(false));

  it.each<[string, unknown, number, string]>([
    ['a text', new HttpException('gone', 410), 410, 'gone'],
    ['an object', new NotFoundException('Product with id 7 not found'), 404, 'Product with id 7 not found'],
    ['what Nest says', new ForbiddenException(), 403, 'Forbidden'],
    [
      'a list',
      new BadRequestException(['name is empty', 'price is negative']),
      400,
      'name is empty; price is negative',
    ],
    ['an object without a message', new HttpException({}, 422), 422, 'Http Exception'],
    [
      'malformed JSON',
      unreadable(400, 'Unexpected token } in "hunter2"'),
      400,
      'The request body is not a valid JSON object',
    ],
    ['too large a body', unreadable(413, 'limit 102400'), 413, 'The request body is larger than this server accepts'],
    ['a wrong media type', unreadable(415, 'x'), 415, 'The request body must be application/json in UTF-8'],
    ['what a platform refuses otherwise', unreadable(431, 'x'), 431, 'The request body cannot be read'],
    [
      'Fastify’s errors',
      new UnreadableBody(Object.assign(new Error('x'), { statusCode: 413 })),
      413,
      'The request body is larger than this server accepts',
    ],
  ])('[4.3] %s has a status and a sentence', (_, exception, status, message) => {
    expect(failureOf(exception, undefined)).toEqual({ status, message });
    expect(logged).toEqual([]);
  });

  it('[4.3] the members of a response of the application are kept, and those that Nest adds are not', () => {
    const own = new HttpException({ message: 'Sold out', code: 'SOLD_OUT', error: { sku: 7 } }, 422);
    const members = { code: 'SOLD_OUT', error: { sku: 7 } };
    expect(failureOf(own, undefined)).toEqual({ status: 422, message: 'Sold out', members });
    const ofNest = new ForbiddenException('Not today');
    expect(failureOf(ofNest, undefined)).toEqual({ status: 403, message: 'Not today' });
  });

  it('[4.3] every wrong field is named', () => {
    const errors = [
      { field: 'name', message: 'expected a text' },
      { field: '__proto__', message: 'unknown field' },
      { field: 'name', message: 'is too short' },
      { field: '', message: 'is not valid' },
    ];
    const exception = new BadRequestException({ message: 'Invalid product', errors });
    const fields = JSON.parse('{"name": "expected a text; is too short", "__proto__": "unknown field"}') as object;
    expect(failureOf(exception, undefined)).toEqual({ status: 400, message: 'Invalid product', errors, fields });
  });

  it('[4.3] errors without a field are no fields', () => {
    const errors = [{ field: '', message: 'is not valid' }];
    const exception = new BadRequestException({ message: 'Invalid product', errors });
    expect(failureOf(exception, undefined)).toEqual({ status: 400, message: 'Invalid product', errors });
  });

  it.each<[string, unknown]>([
    ['an error', new Error('SELECT password FROM user')],
    [
      'an error of a driver',
      Object.assign(new Error('SQLITE_BUSY: /var/lib/shop.db'), { code: 'SQLITE_BUSY', status: 5 }),
    ],
    ['an error with a status of the server', parserError(503, 'down')],
    ['an error with a status that is none', Object.assign(new Error('x'), { status: 'ok', statusCode: 404 })],
    ['an error that calls itself the client’s', parserError(404, 'no such file: /etc/shop')],
    ['a text', 'boom'],
    ['undefined', undefined],
    ['null', null],
  ])('[4.3] %s reveals no detail', (_, exception) => {
    expect(failureOf(exception, undefined)).toEqual({ status: 500, message: 'Internal server error' });
    expect(logged).toHaveLength(1);
  });

  it.each<[unknown, number | undefined]>([
    [parserError(400, 'x'), 400],
    [parserError(499, 'x'), 499],
    [parserError(500, 'x'), undefined],
    [parserError(399, 'x'), undefined],
    [{ statusCode: 415 }, 415],
    [undefined, undefined],
    ['text', undefined],
  ])('[4.3] an error of the client has a status of 4xx (%#)', (exception, status) => {
    expect(platformStatusOf(exception)).toBe(status);
  });
});

describe('a refusal', () => {
  it.each([
    ['ADMIN', 'Admin access required'],
    ['SUPPORT_AGENT', 'Support agent access required'],
    ['a', 'A access required'],
    ['Head_Of_SALES', 'Head of sales access required'],
  ])('[3.2] for the role %s is %s', (role, error) => {
    const refused = new AccessRefused([role]);
    expect([refused.getStatus(), refused.getResponse()]).toEqual([403, refusal(error)]);
  });

  it('[3.2] for any of several roles names them all', () => {
    expect(new AccessRefused(['ADMIN', 'CONTENT_EDITOR']).getResponse()).toEqual(
      refusal('Admin or content editor access required'),
    );
  });

  it('[3.2] without a role names none', () => {
    expect(new AccessRefused().getResponse()).toEqual(refusal('Access denied'));
  });

  it.each([
    [false, 'Bearer'],
    [true, 'Bearer error="invalid_token"'],
  ])('[3.2] without a token has its body and challenge (a token was sent: %s)', (sent, challenge) => {
    const refused = new AuthenticationRequired(sent);
    expect(refused).toBeInstanceOf(UnauthorizedException);
    expect([refused.getStatus(), refused.getResponse(), refused.challenge]).toEqual([
      401,
      refusal('Authentication required'),
      challenge,
    ]);
  });
});
