/** The shop through @hey-api/openapi-ts. */
import { client } from './generated/hey-api/client.gen.js';
import { createProduct, listProducts, login, updateProduct } from './generated/hey-api/sdk.gen.js';
import { describeSteps, NEW_PRODUCT, QUERY, WRONG_PRODUCT, type Login } from './steps.js';

export async function useShop(baseUrl: string, credentials: Login): Promise<string[]> {
  client.setConfig({ baseUrl });
  const { data: session } = await login({ body: credentials });
  const token = session?.data.token;
  client.setConfig({ baseUrl, auth: () => token });
  const { data: page } = await listProducts({ query: QUERY });
  const total: number | undefined = page?.metadata.pagination.total;
  const created = await createProduct({ body: NEW_PRODUCT });
  const id: number | undefined = created.data?.data.id;
  const patched = await updateProduct({ path: { id: id ?? 0 }, body: { price: 13 } });
  // @ts-expect-error A price is a number.
  const refused = await createProduct({ body: WRONG_PRODUCT });
  const failure = refused.error;
  return describeSteps({
    token,
    products: page?.data ?? [],
    total,
    created: { status: created.response?.status ?? 0, id },
    patched: patched.data?.message,
    refused: {
      status: refused.response?.status ?? 0,
      problem: failure && 'fields' in failure ? failure.fields?.['price'] : undefined,
    },
  });
}
