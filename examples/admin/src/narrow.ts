const OPTIONAL = [
  'id',
  'cost',
  'stock',
  'firstName',
  'lastName',
  'address',
  'createdAt',
  'current',
  'lastUsedAt',
  'expiresAt',
];
const LONG = ['userAgent', 'email', 'customerId'];
const cells = (names: readonly string[]): string => names.map((name) => `& .column-${name}`).join(', ');

/** Hides columns on a narrow screen, and breaks long texts. */
export const NARROW = {
  [cells(OPTIONAL)]: { display: { xs: 'none', sm: 'table-cell' } },
  [cells(LONG)]: { overflowWrap: { xs: 'anywhere', sm: 'normal' } },
  '& td, & th': { px: { xs: 0.75, sm: 2 } },
};
