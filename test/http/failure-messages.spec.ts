import { ConflictException, Injectable, Scope } from '@nestjs/common';
import { Length } from 'class-validator';
import { CrudController, type FailureContext, FailureMessages, SecurityConfig } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bootAuth, startAuth } from '../auth/auth-app.js';
import { type CrudService, crudError, startCrud } from '../crud/service.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';

/** A message of nestjs-i18n: the key and the arguments of a translation. */
const keyed = (key: string) => (args: { value: unknown; constraints: unknown[] }) =>
  `${key}|${JSON.stringify({ value: args.value, constraints: args.constraints })}`;

@Entity()
class Word {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  @Length(3, 20, { message: keyed('validation.LEN') })
  text!: string;

  @Column({ type: 'int', default: 0 })
  rank!: number;
}

class WordsController extends CrudController({
  entity: Word,
  endpoint: '/words',
  enableBatch: true,
  maxListSize: 9,
}) {
  override beforeCreate({ rank }: { rank?: number }): void {
    if (rank === 7) throw new ConflictException({ message: ['one', 'two'], code: 'SEVEN' });
    if (rank === 9) throw new ConflictException({ message: 'own', errors: ['a', { field: 'b' }] });
    if (rank === 8) throw new Error('unexpected');
  }
}

const LEN = 'muss 3 bis 20 Zeichen haben';

/** Keeps what it is asked, and marks what it does not know. */
class Messages extends FailureMessages {
  readonly asked: { message: string; field?: string; status: number; method?: string }[] = [];

  translate(message: string, { request, ...context }: FailureContext): string | Promise<string> {
    this.asked.push({ message, ...context, ...(request && { method: request.method }) });
    const [key, args] = message.split('|');
    if (key !== 'validation.LEN') return `<${message}>`;
    const [min, max] = (JSON.parse(args!) as { constraints: number[] }).constraints;
    return Promise.resolve(`muss ${min} bis ${max} Zeichen haben`);
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedMessages extends Messages {}

const crud = { resources: [WordsController], entities: [Word] };
const provided = (...values: FailureMessages[]) =>
  values.map((useValue, index) => ({ provide: `messages ${index}`, useValue }));

describe.each(PLATFORMS)('translated messages on %s', (platform) => {
  let service: CrudService;
  let messages: Messages;
  beforeAll(async () => {
    messages = new Messages();
    // The application adds failures, and the document describes none of problem details.
    service = await startCrud(platform, { ...crud, providers: provided(messages), isDescribed: false });
    await service.post('/words', { text: 'taken' });
  });
  afterAll(() => service.close());
  beforeEach(() => void messages.asked.splice(0));

  it('[4.3] are those of errors, fields and the whole request, each asked for once', async () => {
    const { status, json } = await service.post('/words', { text: 'x', rank: 'a', extra: 1 });
    const rank = expect.stringMatching(/^<must be an integer .*, got "a">$/) as unknown;
    expect([status, json]).toEqual([
      400,
      {
        success: false,
        message: '<Word is not valid>',
        timestamp: expect.any(String),
        errors: [
          { field: 'extra', message: '<unknown field, expected one of text, rank>' },
          { field: 'rank', message: rank },
          { field: 'text', message: LEN },
        ],
        fields: { extra: '<unknown field>', rank, text: LEN },
      },
    ]);
    expect(messages.asked).toHaveLength(5);
    expect(messages.asked).toContainEqual({ message: 'Word is not valid', status: 400, method: 'POST' });
    expect(messages.asked).toContainEqual({ message: 'unknown field', field: 'extra', status: 400, method: 'POST' });
  });

  it.each([
    ['GET', '/words/9', undefined, 404, 'Word with id 9 not found', {}],
    ['GET', '/words?colour=red', undefined, 400, undefined, {}],
    ['POST', '/words', { text: 'taken' }, 409, undefined, { fields: { text: '<is already taken>' } }],
    ['POST', '/words', { text: 'seven', rank: 7 }, 409, 'one>; <two', { code: 'SEVEN' }],
    ['POST', '/words', { text: 'nine', rank: 9 }, 409, 'own', { errors: ['a', { field: 'b' }] }],
    ['POST', '/words', { text: 'eight', rank: 8 }, 500, 'Internal server error', {}],
  ])('[4.3] are those of %s %s with %j', async (method, path, body, status, message, members) => {
    const answer = await service.send(method, path, body && { json: body });
    expect([answer.status, answer.json]).toMatchObject([status, members]);
    expect(answer.json.message).toMatch(/^<.*>$/);
    if (message !== undefined) expect(answer.json.message).toBe(`<${message}>`);
  });

  it('[4.3] are those of problem details and of a body that cannot be read', async () => {
    const headers = { accept: 'application/problem+json', 'content-type': 'application/json' };
    const problem = await service.send('POST', '/words', { headers, json: { text: 'x' } });
    expect(problem.headers['content-type']).toContain('application/problem+json');
    expect(problem.json).toMatchObject({ status: 400, detail: '<Word is not valid>', fields: { text: LEN } });
    const unreadable = await service.send('POST', '/words', {
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect([unreadable.status, unreadable.json.message]).toEqual([
      400,
      '<The request body is not a valid JSON object>',
    ]);
  });

  it('[8.2] are those of batches, whole or item by item', async () => {
    const items = [{ text: 'fine' }, { text: 'x' }, { extra: 1 }, { extra: 2 }];
    const whole = await service.post('/words/batch', { items });
    expect(whole.json.errors).toContainEqual({ field: 'items[1].text', message: LEN });
    const { status, json } = await service.post('/words/batch?atomic=false', { items });
    expect([status, json.data]).toMatchObject([
      207,
      [
        { status: 201 },
        {
          status: 400,
          message: '<Word is not valid>',
          errors: [{ field: 'text', message: LEN }],
          fields: { text: LEN },
        },
        { errors: [{ message: '<unknown field, expected one of text, rank>' }, { message: '<is required>' }] },
        { errors: [{ message: '<unknown field>' }, {}], fields: { extra: '<unknown field>' } },
      ],
    ]);
  });

  it('[4.3] pass each other the text, and one that fails leaves it as it is and logs once', async () => {
    const failing = new Messages();
    failing.translate = (message) => {
      if (message.includes('LEN')) throw new Error('no catalogue');
      return Promise.reject(new Error('no catalogue'));
    };
    const other = new Messages();
    const running = await startCrud(platform, { ...crud, providers: provided(failing, other) });
    const { json } = await running.post('/words', { text: 'x', rank: 'a' });
    expect(json).toMatchObject({ message: '<Word is not valid>', fields: { text: LEN } });
    const lines = linesOf(running.logs, 'error');
    expect(lines).toEqual([expect.stringMatching(/A FailureMessages failed\..*no catalogue/s)]);
    await running.close();
  });

  it('[2.3] [3.2] are those of account endpoints, and not the bodies of refusals', async () => {
    class Rules extends SecurityConfig {
      configure(): void {
        this.requireAuth('/who');
      }
    }
    const own = new Messages();
    const running = await startAuth(platform, { providers: [Rules, ...provided(own)] });
    const { status, json } = await running.post('/api/auth/register', { email: 'no', extra: 1 });
    expect([status, json]).toEqual([
      400,
      {
        success: false,
        message: expect.stringMatching(/^<password: required>; <email: expected .*>; <extra: not .*>$/),
      },
    ]);
    const login = await running.post('/api/auth/login', { email: 'ann@shop.example', password: 'long enough' });
    expect([login.status, login.json]).toEqual([401, { success: false, message: '<Invalid credentials>' }]);
    own.asked.splice(0);
    for (const path of ['/who', '/api/auth/me'])
      expect((await running.get(path)).json).toEqual({ error: 'Authentication required' });
    expect(own.asked).toEqual([]);
    await running.close();
  });

  it('[4.3] refuse to start with request scope', async () => {
    const message = expect.stringContaining('ScopedMessages must be a singleton provider') as string;
    expect(await crudError(platform, { ...crud, providers: [ScopedMessages] })).toMatchObject({ message });
    expect((await bootAuth(platform, { providers: [ScopedMessages] })).error).toMatchObject({ message });
  });
});
