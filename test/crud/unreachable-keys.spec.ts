/** Keys of new records that no URL leads to: they are refused, so that each `Location` leads to its record. */
import { Controller, Get, Post } from '@nestjs/common';
import { CrudController } from 'declarest';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Word {
  @PrimaryColumn()
  word!: string;

  @Column({ default: '' })
  text!: string;
}

@Entity()
class Pair {
  @PrimaryColumn()
  a!: string;

  @PrimaryColumn()
  b!: string;
}

class Words extends CrudController({
  entity: Word,
  endpoint: '/api/words',
  enableBatch: true,
  enableCount: true,
  enableExists: true,
  enableSearch: true,
  searchableFields: ['text'],
  maxListSize: 5,
}) {
  @Get('latest')
  latest(): string {
    return 'none';
  }

  @Post('load')
  load(): string {
    return 'nothing';
  }
}

@Controller('/api/words/archive')
class Archive {
  @Get()
  all(): string[] {
    return [];
  }
}

/** Texts with which routers, URL parsers and statements could have difficulties. */
// prettier-ignore
const TEXTS = [
  '', '.', '..', '...', ' ', 'a b', '%', '%2e', '%2F', '/', 'a/b', '\\', '?', '#', 'a?b#c', ':id', '*', '+', '&', ',',
  'search', 'SEARCH', 'count', 'Count', 'batch', 'exists', 'latest', 'load', 'archive', 'search/', 'é', '€', '😀',
  'constructor', '__proto__', 'null', 'undefined', '\n', '\t', '\u007f', '\u0001', "'", '"', ';', 'a;b', '(x)', '-',
];

describe.each(PLATFORMS)('keys on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      database: DATABASES[0] ?? 'sqlite',
      entities: [Word, Pair],
      resources: [Words, { entity: Pair, endpoint: '/api/pairs', maxListSize: 5 }],
      controllers: [Archive],
      isDescribed: false,
    });
  });
  afterAll(() => service.close());

  it.each(TEXTS)('[4.6] lead to their record by `Location`, or are refused with their name: %j', async (word) => {
    const { status, json, headers } = await service.post('/api/words', { word });
    if (status === 400) return expect(wrongFields({ status, json })).toEqual(['word']);
    expect(status).toBe(201);
    const path = headers['location'] ?? '';
    const read = await service.get(path);
    expect([read.status, read.json.data]).toEqual([200, { word, text: '' }]);
    expect((await service.put(path, { word, text: 'b' })).json.data).toEqual({ word, text: 'b' });
    expect((await service.send('PATCH', path, { json: { text: 'c' } })).json.data).toEqual({ word, text: 'c' });
    expect((await service.del(path)).status).toBe(200);
    expect((await service.get(path)).status).toBe(404);
  });

  it.each(['', '.', '..', 'search', 'count', 'batch', 'latest', 'archive'])(
    '[4.6] are refused where they are %j',
    async (word) => {
      const answers = [
        await service.post('/api/words', { word }),
        await service.post('/api/words/batch', { items: [{ word: 'ok' }, { word }] }),
      ];
      expect(answers.map(wrongFields)).toEqual([['word'], ['items[1].word']]);
      expect(answers[0]!.json.errors[0].message).toMatch(/^must be a key that a path can have, got /);
      expect((await service.get('/api/words')).json.data).toEqual([]);
    },
  );

  it.each(['exists', 'import', 'CONSTRUCTOR', 'searches'])('[4.6] are taken where they are %j', async (word) => {
    expect((await service.post('/api/words', { word })).status).toBe(201);
    expect((await service.del(`/api/words/${word}`)).status).toBe(200);
  });

  it.each(TEXTS)('[4.8] of two columns lead to their record too, or are refused: %j', async (b) => {
    for (const pair of [
      { a: 'search', b },
      { a: b, b: 'x' },
    ]) {
      const { status, json, headers } = await service.post('/api/pairs', pair);
      if (status === 400) expect(wrongFields({ status, json })).not.toEqual([]);
      else {
        expect((await service.get(headers['location'] ?? '')).json.data).toEqual(pair);
        // Some databases take keys for the same that differ in case.
        expect((await service.del(headers['location'] ?? '')).status).toBe(200);
      }
    }
  });
});
