type Article = readonly [name: string, description: string, price: number, cost: number, stock: number];

/** The products that the first start creates, by category. */
export const CATALOGUE: Readonly<Record<string, readonly Article[]>> = {
  Kitchen: [
    ['Teapot', 'Stoneware, holds one litre', 34.5, 14.2, 12],
    ['Bread knife', 'Serrated, 24 cm', 27, 11, 30],
    ['Cutting board', 'Oiled beech, 40 by 25 cm', 22.9, 9.5, 18],
    ['Pepper mill', 'Ceramic grinder, refillable', 31, 16.4, 9],
  ],
  Stationery: [
    ['Notebook', 'Dotted, 160 pages, lies flat', 8.9, 2.1, 200],
    ['Fountain pen', 'Steel nib, takes any cartridge', 24, 10.8, 40],
    ['Blue ink', 'Fifty millilitres', 6.5, 1.9, 75],
    ['Wax crayons', 'Twelve colours', 11.2, 4.3, 0],
  ],
  Garden: [
    ['Watering can', 'Zinc, five litres', 39, 18, 14],
    ['Hand trowel', 'Forged, ash handle', 17.8, 7.6, 25],
    ['Hemp twine', 'One hundred metres', 4.9, 1.2, 120],
    ['Seed box', 'Tin, with monthly dividers', 19.9, 8.4, 0],
  ],
};
