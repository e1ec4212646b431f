/** The shop through orval: its fetch client, its zod schemas and its mocks. */
import { createProduct, listProducts, login, updateProduct } from './generated/orval/shop.js';
import { getGetProductResponseMock, getListProductsResponseMock } from './generated/orval/shop.faker.js';
import * as schemas from './generated/orval/zod.js';
import { describeSteps, NEW_PRODUCT, QUERY, WRONG_PRODUCT, type Login } from './steps.js';

/** The paths of the generated client have no host. */
function sendTo(baseUrl: string): void {
  const send = globalThis.fetch;
  globalThis.fetch = (path, options) => send(new URL(String(path), baseUrl), options);
}

export async function useShop(baseUrl: string, credentials: Login): Promise<string[]> {
  sendTo(baseUrl);
  const session = await login(schemas.LoginBody.parse(credentials));
  const token = session.status === 200 ? session.data.data.token : undefined;
  const authorized = { headers: { Authorization: `Bearer ${token}` } };
  const query = schemas.ListProductsQueryParams.parse(QUERY);
  const page = await listProducts(query as typeof QUERY, authorized);
  if (page.status !== 200) throw new Error(JSON.stringify(page));
  const total: number = schemas.ListProductsResponse.parse(page.data).metadata.pagination.total;
  const created = await createProduct(schemas.CreateProductBody.parse(NEW_PRODUCT), authorized);
  const id: number | undefined = created.status === 201 ? created.data.data.id : undefined;
  const patched = await updateProduct(id ?? 0, { price: 13 }, authorized);
  // @ts-expect-error A price is a number.
  const refused = await createProduct(WRONG_PRODUCT, authorized);
  if (schemas.CreateProductBody.safeParse(WRONG_PRODUCT).success) throw new Error('The schema takes a wrong product.');
  schemas.ListProductsResponse.parse(getListProductsResponseMock());
  schemas.GetProductResponse.parse(getGetProductResponseMock());
  return describeSteps({
    token,
    products: page.data.data,
    total,
    created: { status: created.status, id },
    patched: patched.status === 200 ? patched.data.message : undefined,
    refused: { status: refused.status, problem: refused.status === 400 ? refused.data.fields?.['price'] : undefined },
  });
}
