/** What every client does with the shop, and what it reports of it. */
export interface Login {
  readonly email: string;
  readonly password: string;
}

interface Listed {
  readonly name: string;
  readonly price: number;
  readonly category?: { readonly name: string } | null;
}

/** @param total of a page, which every numbered page has */
export function describeSteps(steps: {
  readonly token: string | undefined;
  readonly products: readonly Listed[];
  readonly total: number | undefined;
  readonly created: { readonly status: number; readonly id: number | undefined };
  readonly patched: string | undefined;
  readonly refused: { readonly status: number; readonly problem: string | undefined };
}): string[] {
  const { token, products, total, created, patched, refused } = steps;
  return [
    `logged in: ${typeof token}`,
    `page of ${total}: ${products.map(({ name, price, category }) => `${name} ${price} ${category?.name}`).join(', ')}`,
    `created: ${created.status}, ${typeof created.id}`,
    `patched: ${patched}`,
    `refused: ${refused.status}, ${refused.problem}`,
  ];
}

/** The products from 20 to 40, the dearest first, of two categories by name. */
export const QUERY = {
  size: 3,
  sort: ['-price', 'name'] as ('-price' | 'name')[],
  include: ['category'] as 'category'[],
  'filter[price][gte]': 20,
  'filter[price][lt]': 40,
  'filter[category.name][in]': ['Kitchen', 'Garden'],
};

export const NEW_PRODUCT = { name: 'Milk jug', price: 12.5, stock: 3, categoryId: 1 };
/** A price is a number. */
export const WRONG_PRODUCT = { name: 'Cup', price: 'cheap', stock: 3, categoryId: 1 };
