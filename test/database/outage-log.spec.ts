import { Logger, type LoggerService } from '@nestjs/common';
import { AuthModule } from 'declarest';
import { OutageLog } from 'declarest/plugin';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AUTH } from '../auth/auth-app.js';
import { startCrud } from '../crud/service.js';
import { type DatabaseProxy, SERVER_DATABASES, startProxy } from '../harness/busy-databases.js';
import { User } from '../harness/shop.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

const BEGIN = 'The database is unavailable, requests are answered with 503: ';
const refused = new Error('connect ECONNREFUSED');

describe('the log of an outage', () => {
  let lines: unknown[];
  let now: number;
  let outages: OutageLog;
  beforeEach(() => {
    lines = [];
    now = 0;
    outages = new OutageLog();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const write = (line: unknown): void => void lines.push(line);
    Logger.overrideLogger({ error: write, warn: write } as unknown as LoggerService);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => Logger.overrideLogger(false));

  it('[4.3] has a line at the beginning, one a minute with the count, and one at the end', () => {
    outages.succeed();
    // A request every second for 150 s.
    for (; now < 150_000; now += 1000) outages.refuse(refused);
    outages.succeed();
    outages.succeed();
    expect(lines).toEqual([
      `${BEGIN}connect ECONNREFUSED`,
      'The database is still unavailable, 61 requests were answered with 503 in 60 s: connect ECONNREFUSED',
      'The database is still unavailable, 121 requests were answered with 503 in 120 s: connect ECONNREFUSED',
      'The database is available again, 150 requests were answered with 503 in 150 s.',
    ]);
  });

  it('[4.3] names the code of an error without a message', () => {
    outages.refuse(Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' }));
    expect(lines).toEqual([`${BEGIN}ECONNREFUSED`]);
  });

  it('[4.3] has few lines while some requests succeed and others do not', () => {
    for (; now < 600_000; now += 1000) {
      outages.refuse(refused);
      outages.succeed();
    }
    // Twice a beginning, once an end, and then one line a minute.
    expect(lines).toHaveLength(3 + 9);
    lines = [];
    now += 60_000;
    outages.succeed();
    expect(lines).toEqual(['The database is available again, 599 requests were answered with 503 in 659 s.']);
  });
});

if (SERVER_DATABASES.length > 0)
  describe.each(SERVER_DATABASES)('[4.3] an outage of %s', (database) => {
    let proxy: DatabaseProxy | undefined;
    afterEach(() => proxy?.remove());

    it('has two lines for generated and account endpoints together', async () => {
      proxy = await startProxy(database);
      const service = await startCrud('fastify', {
        database,
        entities: [Item, User],
        resources: [{ entity: Item, endpoint: '/api/items', enablePagination: true }],
        imports: [AuthModule.forRoot({ ...AUTH, defaultAccess: 'public' })],
      });
      const login = { email: 'ann@shop.example', password: 'correct horse battery' };
      const statuses = async (): Promise<number[]> => {
        const answers = [
          await service.get('/api/items'),
          await service.post('/api/items', { name: 'a' }),
          await service.post('/api/auth/login', login),
        ];
        return answers.map(({ status }) => status);
      };
      const outage = (): string[] => service.logs.filter((line) => line.includes('The database is'));
      expect([await statuses(), outage()]).toEqual([[200, 201, 401], []]);
      await proxy.stop();
      expect(await statuses()).toEqual([503, 503, 503]);
      expect(outage()).toEqual([expect.stringContaining(`error [declarest] ${BEGIN}`)]);
      await proxy.start();
      expect(await statuses()).toEqual([200, 201, 401]);
      expect(outage().slice(1)).toEqual([
        expect.stringMatching(/^warn .* is available again, 3 requests were answered with 503 in \d+ s\.$/),
      ]);
      await service.close();
    });
  });
