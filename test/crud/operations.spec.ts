import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { Category, Product } from '../harness/shop.js';
import { type CrudService, naming, startCrud, success, TIMESTAMP } from './service.js';

describe.each(DATABASES)('on %s', (database) => {
  describe.each(ONE_PLATFORM)('and %s', (platform) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        resources: [
          {
            entity: Product,
            endpoint: '/api/products',
            enableSearch: true,
            enableExists: true,
            searchableFields: ['name', 'description'],
          },
          { entity: Category, endpoint: '/api/categories' },
        ],
      });
    });
    beforeEach(() => service.dataSource.getRepository(Product).createQueryBuilder().delete().execute());
    afterAll(() => service.close());

    const lamp = { name: 'Lamp', description: 'Brass', price: 39.5, stock: 4, categoryId: null };
    const made = async (fields: object = lamp): Promise<Record<string, unknown> & { id: number }> =>
      (await service.post('/api/products', fields)).json.data;

    it('[4.1] GET of an empty collection is 200 with an empty array', async () => {
      const { status, json } = await service.get('/api/products');
      expect([status, json]).toEqual([200, success(naming('Product'), [])]);
    });

    it('[4.1] GET of a collection is 200 with an array of records', async () => {
      const first = await made();
      const second = await made({ ...lamp, name: 'Desk' });
      const { status, json } = await service.get('/api/products');
      expect([status, json]).toEqual([
        200,
        success(naming('Product'), [
          { id: first.id, ...lamp },
          { id: second.id, ...lamp, name: 'Desk' },
        ]),
      ]);
    });

    it('[4.1] GET with an id is 200 with the record', async () => {
      const { id } = await made();
      const { status, json } = await service.get(`/api/products/${id}`);
      expect([status, json]).toEqual([200, success(naming('Product'), { id, ...lamp })]);
    });

    it('[4.1] [4.3] POST is 201 with the record, its Location and a message that names the entity', async () => {
      const { status, json, headers } = await service.post('/api/products', lamp);
      expect([status, json]).toEqual([201, success('Product created', { id: expect.any(Number), ...lamp })]);
      expect(headers['location']).toBe(`/api/products/${json.data.id}`);
      expect((await service.get(headers['location'] ?? '')).json.data).toEqual(json.data);
    });

    it('[4.1] PUT is 200 with the record as it is now', async () => {
      const { id } = await made();
      const changed = { ...lamp, name: 'Tall lamp', price: 41, stock: 0 };
      const { status, json, headers } = await service.put(`/api/products/${id}`, changed);
      expect([status, json]).toEqual([200, success(naming('Product'), { id, ...changed })]);
      expect(headers['location']).toBeUndefined();
      expect((await service.get(`/api/products/${id}`)).json.data).toEqual({ id, ...changed });
    });

    it('[4.1] DELETE is 200 with null, and the record is gone', async () => {
      const { id } = await made();
      const other = await made();
      const { status, json } = await service.del(`/api/products/${id}`);
      expect([status, json]).toEqual([200, success(naming('Product'), null)]);
      expect((await service.get(`/api/products/${id}`)).status).toBe(404);
      expect((await service.get('/api/products')).json.data.map((each: { id: number }) => each.id)).toEqual([other.id]);
    });

    it('[4.1] with enableSearch, GET /search is 200 with an array of records', async () => {
      const { id } = await made();
      await made({ ...lamp, name: 'Desk' });
      const { status, json } = await service.get('/api/products/search?name=lam');
      expect([status, json]).toEqual([200, success(naming('Product'), [{ id, ...lamp }])]);
    });

    it.each([
      ['true', 'a record that is there', 0],
      ['false', 'one that is not', 1000],
    ])('[4.1] with enableExists, GET /exists/{id} is 200 with %s for %s', async (exists, _of, beyond) => {
      const { id } = await made();
      const { status, json } = await service.get(`/api/products/exists/${id + beyond}`);
      expect([status, json]).toEqual([200, success(naming('Product'), { exists: exists === 'true' })]);
    });

    it('[4.1] without enableExists, /exists/{id} is 404', async () => {
      expect((await service.get('/api/categories/exists/1')).status).toBe(404);
    });

    it('[4.1] returns 404 for /search without enableSearch', async () => {
      expect((await service.get('/api/categories/search?name=a')).status).toBe(404);
    });

    it.each([
      ['GET', '/api/products', undefined],
      ['POST', '/api/products', lamp],
      ['GET', '/api/products/search?q=x', undefined],
      ['GET', '/api/products/exists/1', undefined],
      ['GET', '/api/products/999999', undefined],
    ])('[4.3] the timestamp of %s %s is the local date-time of now, without offset', async (method, path, body) => {
      const { json, headers } = await service.send(method, path, body && { json: body });
      expect(json.timestamp).toMatch(TIMESTAMP);
      expect(Math.abs(new Date(json.timestamp as string).getTime() - Date.now())).toBeLessThan(10_000);
      expect(headers['content-type']).toMatch(/^application\/json\b/);
    });
  });
});
