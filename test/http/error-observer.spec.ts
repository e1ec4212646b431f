import { Injectable, InternalServerErrorException, Scope, ServiceUnavailableException } from '@nestjs/common';
import { CrudController, ErrorObserver, type HttpRequest } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bootAuth, startAuth } from '../auth/auth-app.js';
import { crudError, failure, startCrud } from '../crud/service.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  text!: string;
}

const ERRORS: Record<string, Error> = {
  error: new Error('unexpected'),
  500: new InternalServerErrorException('broken'),
  503: new ServiceUnavailableException('closed'),
};

class NotesController extends CrudController({
  entity: Note,
  endpoint: '/api/notes',
  maxListSize: 9,
  enableExport: true,
}) {
  override beforeCreate({ text }: { text?: string }): void {
    const error = ERRORS[text ?? ''];
    if (error) throw error;
  }
}

/** Keeps what it is told, and then fails as it is told. */
class Observer extends ErrorObserver {
  readonly told: (readonly [unknown, string | undefined])[] = [];
  fail: () => void | Promise<void> = () => undefined;

  onUnexpectedError(error: unknown, request: HttpRequest | undefined): void | Promise<void> {
    this.told.push([error, request?.method]);
    return this.fail();
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedObserver extends Observer {}

const crud = { resources: [NotesController], entities: [Note] };

describe.each(PLATFORMS)('an observer of errors on %s', (platform) => {
  it('[4.3] is told of answers of 500 of generated endpoints', async () => {
    const observer = new Observer();
    const service = await startCrud(platform, { ...crud, providers: [{ provide: 'observer', useValue: observer }] });
    const statuses = [];
    for (const text of [...Object.keys(ERRORS), 'fine'])
      statuses.push((await service.post('/api/notes', { text })).status);
    expect(statuses).toEqual([500, 503, 500, 201]);
    expect(observer.told).toEqual([
      [ERRORS[500], 'POST'],
      [ERRORS['error'], 'POST'],
    ]);
    await service.close();
  });

  it('[2.3] is told of those of account endpoints, without CrudModule', async () => {
    const observer = new Observer();
    const service = await startAuth(platform, { providers: [{ provide: 'observer', useValue: observer }] });
    await service.users().query('DROP TABLE user');
    const { status } = await service.post('/api/auth/login', { email: 'ann@shop.example', password: 'long enough' });
    expect([status, observer.told]).toEqual([500, [[expect.any(Error), 'POST']]]);
    await service.close();
  });

  it('[4.3] is told of an export that breaks off', async () => {
    const observer = new Observer();
    const service = await startCrud(platform, { ...crud, providers: [{ provide: 'observer', useValue: observer }] });
    await service.dataSource.getRepository(Note).insert(Array.from({ length: 1000 }, () => ({ text: 'a' })));
    // The last row cannot be read: the integer overflows.
    await service.dataSource.query('ALTER TABLE note RENAME TO kept');
    await service.dataSource.query(
      'CREATE VIEW note AS SELECT id, CASE id WHEN 1000 THEN abs(-9223372036854775807 - 1) ELSE text END AS text FROM kept',
    );
    const response = await fetch(`${service.url}/api/notes/export?format=csv`);
    await expect(response.text()).rejects.toThrow();
    expect(observer.told).toEqual([[expect.any(Error), 'GET']]);
    await service.close();
  });

  const thrown = new Error('the tracker is down');
  it.each<[string, () => void | Promise<void>]>([
    [
      'throws',
      () => {
        throw thrown;
      },
    ],
    ['rejects', () => Promise.reject(thrown)],
  ])('[4.3] that %s is logged and changes nothing', async (_, fail) => {
    const [observer, other] = [Object.assign(new Observer(), { fail }), new Observer()];
    const providers = [observer, other].map((useValue, index) => ({ provide: `observer ${index}`, useValue }));
    const service = await startCrud(platform, { ...crud, providers });
    const { status, json } = await service.post('/api/notes', { text: 'error' });
    expect([status, json]).toEqual([500, failure('Internal server error')]);
    expect(other.told).toHaveLength(1);
    expect(linesOf(service.logs, 'error')).toEqual([
      expect.stringContaining('A request failed unexpectedly: POST /api/notes.'),
      expect.stringMatching(/An ErrorObserver failed\..*the tracker is down/),
    ]);
    await service.close();
  });

  it('[4.3] with request scope refuses to start', async () => {
    const message = expect.stringContaining('ScopedObserver must be a singleton provider') as string;
    expect(await crudError(platform, { ...crud, providers: [ScopedObserver] })).toMatchObject({ message });
    expect((await bootAuth(platform, { providers: [ScopedObserver] })).error).toMatchObject({ message });
  });
});
