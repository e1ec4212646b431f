/** Exports of lists as files: their content on each database, and broken transfers over real sockets. */
import { connect } from 'node:net';
import { Get } from '@nestjs/common';
import { CrudController, type ListQuery } from 'declarest';
import { AfterLoad, Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { rawRequest } from '../harness/raw-socket.js';
import { StatementLog } from '../harness/statement-log.js';
import { type CrudService, failure, startCrud, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

class Place {
  @Column({ type: 'varchar', nullable: true })
  city!: string | null;
}

@Entity()
class Cell {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', nullable: true })
  text!: string | null;

  @Column({ type: 'int', nullable: true })
  whole!: number | null;

  @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true })
  price!: string | null;

  @Column({ type: 'bigint', nullable: true })
  serial!: string | null;

  @Column({ type: 'simple-json', nullable: true })
  extra!: unknown;

  @Column({ type: 'date', nullable: true })
  day!: string | null;

  @Column({ type: 'varchar', select: false, nullable: true })
  secret!: string | null;

  @DeleteDateColumn({ select: false })
  deletedAt!: Date | null;
}

@Entity()
class Visit {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column(() => Place)
  at!: Place;
}

/** Enough for several batches, and for more than a socket buffers. */
@Entity()
class Line {
  static failsAt: number | undefined;
  static loaded = 0;

  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;

  @AfterLoad()
  load(): void {
    Line.loaded += 1;
    if (this.id === Line.failsAt) throw new Error('the inner detail');
  }
}
const LINES = 30_000;

const TEXTS = [
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\tx',
  '\rx',
  'a,b',
  'say "hi"',
  'two\nlines',
  '',
  null,
  "'=",
  ' =1',
  'ä 🦊',
  '-',
];

/** How a server ends the connection of an answer. */
const endOf = (port: number, path: string, version: string): Promise<{ isReset: boolean; text: string }> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const end = (isReset: boolean): void => {
      socket.destroy();
      resolve({ isReset, text });
    };
    socket.write(`GET ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`);
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => end(true));
    // Node may report a reset as an end; only after a reset, the next write fails.
    socket.on('end', () => socket.write('x', (error) => end(Boolean(error))));
  });

describe.each(DATABASES)('on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities: [Cell],
      resources: [
        {
          entity: Cell,
          endpoint: '/api/all.cells',
          enableExport: true,
          filterableFields: ['text', 'whole'],
          sortableFields: ['whole', 'text'],
        },
      ],
    });
    for (const [index, text] of TEXTS.entries())
      await twins.post('/api/all.cells', { text, whole: index % 3 === 0 ? null : -index, secret: 'hidden' });
    await twins.post('/api/all.cells', {
      price: '-1.50',
      serial: '-9007199254740993',
      extra: { '=a': ['b', null] },
      day: '2026-01-31',
    });
    await twins.post('/api/all.cells', { text: 'deleted' });
    await twins.del(`/api/all.cells/${TEXTS.length + 2}`);
  });
  afterAll(() => twins.close());

  it('[7.8] sends CSV with a header, in which no text is a formula', async () => {
    const { status, headers, text } = await twins.get('/api/all.cells/export?format=csv&fields=text,whole');
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      'attachment; filename="all.cells.csv"',
    ]);
    expect(text.split('\r\n')).toEqual([
      'text,whole',
      "'=1+1,",
      "'+1,-1",
      "'-1,-2",
      "'@x,",
      "'\tx,-4",
      `"'\rx",-5`,
      '"a,b",',
      '"say ""hi""",-7',
      '"two\nlines",-8',
      '"",',
      ',-10',
      "'=,-11",
      ' =1,',
      'ä 🦊,-13',
      "'-,-14",
      ',',
      '',
    ]);
  });

  it('[7.8] sends numbers as they are, dates in ISO, and JSON as JSON', async () => {
    const { text } = await twins.get(
      '/api/all.cells/export?format=csv&filter[text][isNull]=true&filter[whole][isNull]=true',
    );
    expect(text).toBe(
      'id,text,whole,price,serial,extra,day\r\n' +
        `16,,,-1.50,-9007199254740993,"{""=a"":[""b"",null]}",2026-01-31\r\n`,
    );
  });

  it('[7.8] sends a record in each line of NDJSON, in the order and with the filter of a list', async () => {
    const query = 'sort=-whole,text&fields=id,whole&filter[text][ne]=a,b';
    const { status, headers, text } = await twins.get(`/api/all.cells/export?format=ndjson&${query}`);
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
      'attachment; filename="all.cells.ndjson"',
    ]);
    const list = (await twins.get(`/api/all.cells?${query}`)).json.data as object[];
    expect(text).toBe(list.map((record) => `${JSON.stringify(record)}\n`).join(''));
  });

  it('[7.8] sends an empty list', async () => {
    const empty = 'filter[text]=none&fields=id';
    expect((await twins.get(`/api/all.cells/export?format=csv&${empty}`)).text).toBe('id\r\n');
    expect((await twins.get(`/api/all.cells/export?format=ndjson&${empty}`)).text).toBe('');
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  const logger = new StatementLog();
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Line, Visit],
      resources: [
        { entity: Line, endpoint: '/api/lines', enableExport: true, sortableFields: ['text'] },
        { entity: Visit, endpoint: '/api/visits', enableExport: true, enablePagination: true },
      ],
      dataSource: { logger },
    });
    await service.dataSource.query(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LINES})
       INSERT INTO line (text) SELECT '${'x'.repeat(400)}' FROM n`,
    );
    await service.post('/api/visits', { at: { city: 'Ulm' } });
  });
  afterAll(() => service.close());

  it.each<[string, string[]]>([
    ['', ['format']],
    ['format=xlsx', ['format']],
    ['format=', ['format']],
    ['format=csv&page=1&size=2', ['page', 'size']],
    ['format=csv&filter[id]=1', ['filter[id]']],
    ['format=csv&sort=id', ['sort']],
    ['format=csv&fields=none', ['fields']],
  ])('[7.8] [7.9] refuses ?%s', async (query, fields) => {
    expect(wrongFields(await service.get(`/api/visits/export?${query}`))).toEqual(fields);
  });

  it('[7.8] names embedded fields with dots', async () => {
    expect((await service.get('/api/visits/export?format=csv')).text).toBe('id,at.city\r\n1,Ulm\r\n');
  });

  it('[7.8] sends a long list whole, in batches of about 64 kB', async () => {
    const idsOf = ({ text }: Answer): number[] =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as Line).id);
    const ids = Array.from({ length: LINES }, (_, index) => index + 1);
    logger.take();
    const answer = await service.get('/api/lines/export?format=ndjson');
    expect(idsOf(answer)).toEqual(ids);
    // The first ones are shorter, because the length of the records is not known yet.
    const batches = Math.ceil(answer.text.length / (64 * 1024));
    const statements = logger.take().length;
    expect([statements >= batches, statements <= batches + 5]).toEqual([true, true]);
    expect(idsOf(await service.get('/api/lines/export?format=ndjson&sort=-text'))).toEqual(ids);
  });

  it('[7.8] ends the connection where a statement fails after the first byte', async () => {
    Line.failsAt = 5_500;
    const request = 'GET /api/lines/export?format=csv HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const { status, body, raw } = await rawRequest(service.port, request, { timeoutMs: 60_000 });
    Line.failsAt = undefined;
    expect([status, body.startsWith('id,text\r\n1,x')]).toEqual([200, true]);
    // A whole body in chunks ends with one of length 0.
    expect(raw.toString().endsWith('0\r\n\r\n')).toBe(false);
    expect(body).not.toContain('inner detail');
    expect(linesOf(service.logs, 'error').join()).toContain('An export failed');
  });

  it.each(['csv', 'ndjson'])(
    '[7.8] resets the connection of HTTP/1.0 where %s fails after the first byte',
    async (format) => {
      const path = `/api/lines/export?format=${format}`;
      const whole = await endOf(service.port, path, '1.0');
      expect([whole.isReset, whole.text.length > 400 * LINES]).toEqual([false, true]);
      Line.failsAt = 5_500;
      const [old, current] = await Promise.all(['1.0', '1.1'].map((version) => endOf(service.port, path, version)));
      Line.failsAt = undefined;
      expect([old?.isReset, current?.isReset]).toEqual([true, false]);
      expect(old?.text.startsWith('HTTP/1.1 200 OK')).toBe(true);
      expect(current?.text.endsWith('0\r\n\r\n')).toBe(false);
    },
  );

  it('[7.8] answers what fails before the first byte as any failure', async () => {
    Line.failsAt = 1;
    const { status, json, headers } = await service.get('/api/lines/export?format=csv');
    Line.failsAt = undefined;
    expect([status, json]).toEqual([500, failure('Internal server error')]);
    expect(headers['content-disposition']).toBeUndefined();
  });

  it('[7.8] reads no further when the client goes away, or does not read', async () => {
    Line.loaded = 0;
    const socket = connect(service.port, '127.0.0.1');
    socket.write('GET /api/lines/export?format=ndjson HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const settled = async (): Promise<number> => {
      for (let before = -1; before !== Line.loaded;) {
        before = Line.loaded;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      return Line.loaded;
    };
    const whilePaused = await settled();
    expect(whilePaused).toBeLessThan(LINES);
    socket.destroy();
    expect(await settled()).toBeLessThanOrEqual(whilePaused + 2_000);
  });

  it('[7.8] reads few long records at a time', async () => {
    await service.dataSource.query(`INSERT INTO line (text) SELECT '${'y'.repeat(90_000)}' FROM line WHERE id <= 100`);
    logger.take();
    const { text } = await service.get('/api/lines/export?format=ndjson&sort=-text');
    expect(text.length).toBeGreaterThan(100 * 90_000);
    const limits = logger.take().map(([sql]) => Number(/LIMIT (\d+)/.exec(sql)?.[1]));
    expect(Math.max(...limits.slice(0, 30))).toBeLessThanOrEqual(10);
    await service.dataSource.query(`DELETE FROM line WHERE id > ${LINES}`);
  });

  it('[7.8] reads nothing for HEAD', async () => {
    Line.loaded = 0;
    const { status, headers, text } = await service.send('HEAD', '/api/lines/export?format=csv');
    expect([status, headers['content-disposition'], text, Line.loaded]).toEqual([
      200,
      'attachment; filename="lines.csv"',
      '',
      0,
    ]);
    expect((await service.send('HEAD', '/api/lines/export')).status).toBe(400);
  });

  it('[7.8] [4.7] can be overridden', async () => {
    class VisitsController extends CrudController({ entity: Visit, endpoint: '/api/visits', enableExport: true }) {
      @Get('export')
      override async export(query: ListQuery) {
        return super.export({ ...query, fields: 'id' });
      }
    }
    const other = await startCrud(platform, { entities: [Visit], resources: [VisitsController] });
    await other.post('/api/visits', { at: { city: 'Ulm' } });
    expect((await other.get('/api/visits/export?format=csv')).text).toBe('id\r\n1\r\n');
    await other.close();
  });
});
