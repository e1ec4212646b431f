/** Changes of the access table that need other resources than the shop. */
import { Controller, VersioningType } from '@nestjs/common';
import { CrudController, type CrudOptions, type ScopeContext } from 'declarest';
import { PLATFORMS } from '../harness/platforms.js';
import { changesBetween, Order, tableOfResources, type Resources } from './shop.js';

const widerOf = (changes: ReturnType<typeof changesBetween>): string[] =>
  changes.filter(({ kind }) => kind === 'wider').map(({ sentence }) => sentence);

const own = ({ user }: ScopeContext) => ({ customerId: Number(user?.id ?? 0) });

describe('versions of an endpoint', () => {
  /** Version 1 hides the quantity. */
  const versions = (type: object, second: Partial<CrudOptions<Order>> = {}): Resources => {
    const options = { entity: Order, endpoint: '/orders', scope: own };
    @Controller({ version: '1' })
    class V1 extends CrudController({ ...options, fieldPermissions: { quantity: { read: 'never' } } }) {}
    @Controller({ version: '2' })
    class V2 extends CrudController({ ...options, ...second }) {}
    return { controllers: [V1, V2], configure: (app) => void app.enableVersioning(type as never) };
  };
  const URI = { type: VersioningType.URI };

  it.each(PLATFORMS)('compares each version in the URI with itself on %s', async (platform) => {
    const before = await tableOfResources(platform, versions(URI));
    expect(changesBetween(before, before)).toEqual([]);
    const after = await tableOfResources(platform, versions(URI, { scope: undefined }));
    expect(widerOf(changesBetween(before, after))).toContain('USER: GET /v2/orders: was own (customerId), is all');
  });

  it('compares each version in a header with itself', async () => {
    const table = await tableOfResources('express', versions({ type: VersioningType.HEADER, header: 'X-Version' }));
    expect(changesBetween(table, table)).toEqual([]);
  });
});
