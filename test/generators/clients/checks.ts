/** Whether the generated types and schemas are what the service takes and answers. */
import * as heyApi from './generated/hey-api/zod.gen.js';
import type * as heyApiTypes from './generated/hey-api/types.gen.js';
import * as kubb from './generated/kubb/zod.js';
import type * as kubbTypes from './generated/kubb/types.js';
import * as orval from './generated/orval/zod.js';
import type * as orvalTypes from './generated/orval/service.js';
import type * as swaggerTypes from './generated/swagger-typescript-api/service.js';

interface Schema {
  parse(value: unknown): unknown;
}

type Schemas = Readonly<Record<'create' | 'patch' | 'list', Schema>>;

const SCHEMAS: Readonly<Record<string, Schemas>> = {
  '@hey-api/openapi-ts': {
    create: heyApi.zProductCreate,
    patch: heyApi.zProductPatch,
    list: heyApi.zListProductsResponse,
  },
  kubb: {
    create: kubb.productCreateSchema,
    patch: kubb.productPatchSchema,
    list: kubb.listProductsQueryResponseSchema,
  },
  orval: { create: orval.CreateProductBody, patch: orval.UpdateProductBody, list: orval.ListProductsResponse },
};

/** A generator that loses `null` of an enum does not compile here. */
export const NO_TIER: [
  heyApiTypes.Product['tier'],
  kubbTypes.Product['tier'],
  orvalTypes.Product['tier'],
  swaggerTypes.Product['tier'],
] = [null, null, null, null];

/** What the schemas of each generator make of a new record, of a change, and of a list that the service answered. */
export const parseAll = (created: object, changed: object, list: object): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schemas]) => [
      name,
      [schemas.create.parse(created), schemas.patch.parse(changed), schemas.list.parse(list)],
    ]),
  );
