/** `ignoredParameters` of CrudModule.forRoot: query parameters that belong to the application. */
import { Get, type Type } from '@nestjs/common';
import { CrudController, CrudModule, type CrudModuleOptions, type CustomOperation, type ListQuery } from 'declarest';
import { standardOperations } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORMS } from '../harness/platforms.js';
import { crudError, startCrud } from './service.js';

@Entity()
class Word {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) text!: string;
}

const count: CustomOperation<Word> = {
  name: 'countLong',
  route: { verb: 'GET', path: 'long' },
  description: { summary: 'Count', data: {}, parameters: { least: { type: 'integer' } } },
  run: async ({ find }, { query }) => ({ names: Object.keys(query), found: (await find({})).length }),
};

class WordsController extends CrudController({
  entity: Word,
  endpoint: '/words',
  enablePagination: true,
  enableSearch: true,
  searchableFields: ['text'],
  sortableFields: ['text'],
  filterableFields: ['text'],
  aggregatableFields: ['id'],
  enableCount: true,
  enableExists: true,
  enableExport: true,
  enableBatch: true,
  operations: [...standardOperations, count],
}) {
  seen: ListQuery = {};

  @Get(':id')
  override findById(id: string, query: ListQuery) {
    this.seen = query;
    return super.findById(id, query);
  }
}

const root = (options: CrudModuleOptions, controller: Type = WordsController) => ({
  entities: [Word],
  resources: [controller as typeof WordsController],
  imports: [CrudModule.forRoot(options)],
  isDescribed: false,
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('[4.4] parameters of the application are no unknown parameters', async () => {
    const service = await startCrud(platform, root({ ignoredParameters: ['lang', 'access_token', 'utm.source'] }));
    const { get, post, send, del, app } = service;
    const extra = 'lang=de&access_token=x&access_token=y&utm.source=mail';
    try {
      for (const text of ['ab', 'cd', 'ef', 'gh']) await post(`/words?${extra}`, { text });
      for (const path of [
        '?sort=text&',
        '?',
        '/1?',
        '/search?q=a&',
        '/count?',
        '/exists/1?',
        '/export?format=csv&',
        '/aggregate?sum=id&',
      ])
        expect([path, (await get(`/words${path}${extra}`)).status]).toEqual([path, 200]);
      expect(app.get(WordsController, { strict: false }).seen).toMatchObject({ lang: 'de' });
      expect(await get(`/words/long?least=1&${extra}`)).toMatchObject({
        json: { data: { names: ['least'], found: 4 } },
      });
      expect((await send('PATCH', `/words/1?${extra}`, { json: { text: 'x' } })).status).toBe(200);
      expect(
        (await send('POST', `/words/batch?atomic=false&${extra}`, { json: { items: [{ text: 'y' }] } })).status,
      ).toBe(207);
      expect((await del(`/words/batch?ids=2,3&${extra}`)).status).toBe(200);
      expect((await del(`/words/4?${extra}`)).status).toBe(200);
      expect(await get('/words?lang=de&colour=red')).toMatchObject({
        status: 400,
        json: { fields: { colour: 'unknown parameter' } },
      });
      expect((await get('/words?filter[lang]=de')).status).toBe(400);
    } finally {
      await service.close();
    }
  });

  it('[4.4] without the option they are unknown', async () => {
    const service = await startCrud(platform, root({}));
    try {
      expect(await service.get('/words?lang=de')).toMatchObject({ status: 400 });
      expect(await service.del('/words/1?lang=de')).toMatchObject({ status: 400 });
    } finally {
      await service.close();
    }
  });

  it.each([
    ['a parameter of lists', ['lang', 'sort'], 'got "sort"'],
    ['a parameter of batches', ['atomic'], 'got "atomic"'],
    ['a filter', ['filter[a]'], 'got "filter[a]"'],
    ['an empty name', [''], 'got an empty string'],
    ['a number', [7], 'got 7'],
    ['a text', 'lang', 'got "lang"'],
    ['an unknown option', undefined, 'CrudModule'],
  ])('[4.4] refuses %s', (_, ignoredParameters, problem) => {
    const given = ignoredParameters === undefined ? { ignoredParams: [] } : { ignoredParameters };
    expect(() => CrudModule.forRoot(given as never)).toThrow(problem);
  });

  it('[4.4] refuses a parameter that a resource declares', async () => {
    for (const name of ['text', 'least'])
      expect((await crudError(platform, root({ ignoredParameters: [name] }))).message).toBe(
        `CrudModule option \`ignoredParameters\` must be names other than the parameters of /words, got "${name}". Leave it out.`,
      );
  });
});
