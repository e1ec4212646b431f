import request from 'supertest';

import { createShop, type Shop } from './shop.js';

describe('Catalogue (e2e)', () => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await createShop();
  });

  afterAll(async () => {
    await shop.app.close();
  });

  const server = () => request(shop.app.getHttpServer());
  const price = (each: { readonly price: number }) => each.price;

  it('[7.1] filters products by price range and category, and sorts them', () =>
    server()
      .get('/api/products')
      .query({
        'filter[category.name]': 'Garden',
        'filter[price][between]': '4.9,20',
        sort: '-price',
        fields: 'name,price',
      })
      .expect(200)
      .expect(({ body }) => {
        expect(body.data).toEqual([
          { name: 'Seed box', price: 19.9 },
          { name: 'Hand trowel', price: 17.8 },
          { name: 'Hemp twine', price: 4.9 },
        ]);
      }));

  it('[7.8] exports the price list', async () => {
    const { headers, text } = await server()
      .get('/api/products/export?format=csv&fields=name,price&filter[category.name]=Stationery&sort=name')
      .expect('content-type', /^text\/csv/);
    expect(headers['content-disposition']).toBe('attachment; filename="products.csv"');
    expect(text.trim().split(/\r?\n/)).toEqual([
      'name,price',
      'Blue ink,6.5',
      'Fountain pen,24',
      'Notebook,8.9',
      'Wax crayons,11.2',
    ]);
  });

  it('[8.7] nests reviews below their product, and only their author or the staff changes them', async () => {
    const { staff, customer } = shop;
    const reviews = '/api/products/2/reviews';
    const written = await server()
      .post(reviews)
      .auth(staff, { type: 'bearer' })
      .send({ stars: 5, text: 'Sharp' })
      .expect(201);
    const review = { id: written.body.data.id, stars: 5, text: 'Sharp', productId: 2, authorId: 3 };
    expect(written.body.data).toEqual(review);
    await server()
      .patch(`${reviews}/${review.id}`)
      .auth(customer, { type: 'bearer' })
      .send({ stars: 1 })
      .expect(403, { error: 'Owner access required' });
    await server().get(`/api/products/3/reviews/${review.id}`).expect(404);

    const own = await server()
      .post(reviews)
      .auth(customer, { type: 'bearer' })
      .send({ stars: 2, text: 'Blunt' })
      .expect(201);
    const path = `${reviews}/${own.body.data.id}`;
    expect(own.headers['location']).toBe(path);
    const corrected = await server().patch(path).auth(customer, { type: 'bearer' }).send({ stars: 3 }).expect(200);
    expect(corrected.body.data).toMatchObject({ stars: 3, text: 'Blunt', authorId: 2 });
    const product = await server().get('/api/products/2?include=category,reviews').expect(200);
    expect(product.body.data).toMatchObject({
      category: { id: 1, name: 'Kitchen' },
      reviews: [review, corrected.body.data],
    });
    await server().delete(path).auth(staff, { type: 'bearer' }).expect(200);
  });

  it('[9.3] lets only administrators read and write the cost of a product', async () => {
    const { admin, staff, customer } = shop;
    for (const token of ['', customer, staff]) {
      const get = (path: string) => {
        const test = server().get(path);
        return token === '' ? test : test.auth(token, { type: 'bearer' });
      };
      for (const path of ['', '/4', '/export?format=ndjson', '/search?q=a'])
        expect((await get(`/api/products${path}`).expect(200)).text).not.toMatch(/cost/);
      for (const query of ['filter[cost][gt]=1', 'sort=cost', 'fields=cost'])
        await get(`/api/products?${query}`).expect(400);
    }
    const asAdmin = (path: string) => server().get(path).auth(admin, { type: 'bearer' }).expect(200);
    const patch = (token: string, cost: number) =>
      server().patch('/api/products/4').auth(token, { type: 'bearer' }).send({ cost });
    await patch(staff, 1).expect(400);
    expect((await asAdmin('/api/products/4')).body.data.cost).toBe(16.4);
    expect((await patch(admin, 17).expect(200)).body.data.cost).toBe(17);
    const dear = await asAdmin('/api/products?filter[cost][gte]=17&sort=cost');
    expect(dear.body.data.map(({ name }: { name: string }) => name)).toEqual(['Pepper mill', 'Watering can']);

    const { data } = (await server().get('/api/products/4').expect(200)).body;
    await server().put('/api/products/4').auth(staff, { type: 'bearer' }).send(data).expect(200);
    expect((await asAdmin('/api/products/4')).body.data.cost).toBe(17);
  });

  it('[8.4] hides a deleted product, which an administrator restores', async () => {
    const { admin, staff, customer } = shop;
    const get = (path: string, token: string) => server().get(path).auth(token, { type: 'bearer' });
    const deleted = await server().delete('/api/products/3').auth(staff, { type: 'bearer' }).expect(200);
    expect(deleted.body).toMatchObject({ success: true, data: null });
    await get('/api/products/3', admin).expect(404);
    await get('/api/products?deleted=only', staff).expect(400);
    const hidden = await get('/api/products?deleted=only', admin).expect(200);
    expect(hidden.body.data).toEqual([
      expect.objectContaining({ id: 3, name: 'Cutting board', deletedAt: expect.any(String) }),
    ]);
    const order = { productId: 3, quantity: 1 };
    await server().post('/api/orders').auth(customer, { type: 'bearer' }).send(order).expect(409);
    await server().post('/api/products/3/restore').auth(admin, { type: 'bearer' }).expect(200);
    expect((await server().get('/api/products/3').expect(200)).body.data).not.toHaveProperty('deletedAt');
  });

  it('[8.2] changes several prices at once, or none', async () => {
    const change = (token: string, ...items: object[]) =>
      server().patch('/api/products/batch').auth(token, { type: 'bearer' }).send({ items });
    const prices = async () => {
      const { body } = await server().get('/api/products?filter[category.name]=Garden&sort=name&fields=price');
      return body.data.map(price);
    };
    const before = await prices();
    await change(shop.customer, { id: 9, price: 1 }).expect(403);
    const wrong = await change(shop.staff, { id: 11, price: 5.5 }, { id: 12, price: -1 }).expect(400);
    expect(wrong.body.errors).toEqual([{ field: 'items[1].price', message: expect.any(String) }]);
    expect(await prices()).toEqual(before);
    const changed = await change(shop.staff, { id: 11, price: 5.5 }, { id: 12, price: 21 }).expect(200);
    expect(changed.body.data).toEqual([
      expect.objectContaining({ id: 11, price: 5.5 }),
      expect.objectContaining({ id: 12, price: 21 }),
    ]);
    expect(changed.text).not.toMatch(/cost/);
    expect(await prices()).toEqual([17.8, 5.5, 21, 39]);
  });

  it('[8.5] refuses to overwrite a change of another editor', async () => {
    const { headers } = await server().get('/api/products/2').expect(200);
    const patch = (value: number) =>
      server()
        .patch('/api/products/2')
        .auth(shop.staff, { type: 'bearer' })
        .set({ 'If-Match': headers['etag'] })
        .send({ price: value });
    await patch(28).expect(200);
    await patch(29).expect(412);
  });

  it('[4.7] returns the previous price in the message of the overridden update', async () => {
    const { version, ...product } = (await server().get('/api/products/1').expect(200)).body.data;
    const put = (json: object) => server().put('/api/products/1').auth(shop.staff, { type: 'bearer' }).send(json);
    expect(version).toBe(1);
    expect((await put({ ...product, stock: 5 }).expect(200)).body.message).toBe('Product updated');
    expect((await put({ ...product, price: 36 }).expect(200)).body).toMatchObject({
      message: 'Product updated, price changed from 34.5 to 36',
      data: { price: 36 },
    });
    await put({ ...product, price: -1 }).expect(400);
  });
});
