import Box from '@mui/material/Box';
import Typography from '@mui/material/Typography';
import { DeleteButton, NumberField, Pagination, ReferenceManyField, TextField, useRecordContext } from 'react-admin';

import { REVIEWS } from './shop.js';
import { ShopTable } from './shop-list.js';

/** The reviews of the product on the page. Their authors and the staff may delete them. */
export function ProductReviews() {
  const product = useRecordContext();
  if (!product) return null;
  return (
    // On a narrow screen, the buttons of the form stay at the bottom.
    <Box sx={{ pb: { xs: 8, sm: 0 } }}>
      <Typography variant="h6" sx={{ px: 2 }}>
        Reviews
      </Typography>
      <ReferenceManyField
        reference={REVIEWS}
        target="productId"
        sort={{ field: 'stars', order: 'DESC' }}
        pagination={<Pagination />}
      >
        <ShopTable bulkActionButtons={false} rowClick={false} empty={<Typography sx={{ p: 2 }}>None yet.</Typography>}>
          <NumberField source="stars" />
          <TextField source="text" sortable={false} />
          <DeleteButton
            mutationMode="pessimistic"
            redirect={false}
            mutationOptions={{ meta: { productId: product.id } }}
          />
        </ShopTable>
      </ReferenceManyField>
    </Box>
  );
}
