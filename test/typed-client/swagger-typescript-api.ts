/** The shop through swagger-typescript-api. */
import { Api, type FailureEnvelope, type HttpResponse } from './generated/swagger-typescript-api/shop.js';
import { describeSteps, NEW_PRODUCT, QUERY, WRONG_PRODUCT, type Login } from './steps.js';

export async function useShop(baseUrl: string, credentials: Login): Promise<string[]> {
  const { api, setSecurityData } = new Api<string>({
    baseUrl,
    // It does not know the media type of answers that operations share.
    baseApiParams: { format: 'json' },
    securityWorker: (token) => (token === null ? {} : { headers: { Authorization: `Bearer ${token}` } }),
  });
  const { data: session } = await api.login(credentials);
  const { token } = session.data;
  setSecurityData(token);
  const { data: page } = await api.listProducts(QUERY);
  const total: number = page.metadata.pagination.total;
  const created = await api.createProduct(NEW_PRODUCT);
  const id: number = created.data.data.id;
  const patched = await api.updateProduct(id, { price: 13 });
  // @ts-expect-error A price is a number.
  const refused = await api.createProduct(WRONG_PRODUCT).catch((error: HttpResponse<never, FailureEnvelope>) => error);
  return describeSteps({
    token,
    products: page.data,
    total,
    created: { status: created.status, id },
    patched: patched.data.message,
    refused: {
      status: refused.status,
      problem: 'fields' in refused.error ? refused.error.fields?.['price'] : undefined,
    },
  });
}
