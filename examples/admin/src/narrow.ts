const OPTIONAL = ['id', 'cost', 'stock', 'firstName', 'lastName', 'address', 'createdAt', 'current'];

/** Hides columns on a narrow screen, and breaks long texts. */
export const NARROW = {
  [OPTIONAL.map((name) => `& .column-${name}`).join(', ')]: { display: { xs: 'none', sm: 'table-cell' } },
  '& td, & th': { px: { xs: 1, sm: 2 }, overflowWrap: { xs: 'anywhere', sm: 'normal' } },
};
