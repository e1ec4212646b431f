import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import { usePermittedFields } from 'ra-data-declarest';
import { Datagrid, type DatagridProps, List, type ListProps, Pagination, useListContext } from 'react-admin';

/** Says why a list cannot be shown, and offers to read it again. */
export function ListFailure() {
  const { error, refetch } = useListContext();
  const again = (
    <Button color="inherit" onClick={() => void refetch()}>
      Try again
    </Button>
  );
  return (
    <Alert severity="error" action={again}>
      The list cannot be shown: {(error as Error | null)?.message}
    </Alert>
  );
}

/** A list that failed has no pages. */
function Pages() {
  return useListContext().error ? null : <Pagination />;
}

export const ShopList = (props: ListProps) => <List error={<ListFailure />} pagination={<Pages />} {...props} />;

/** A table with the columns that the user may read. */
export const ShopTable = ({ children, ...props }: DatagridProps) => (
  <Datagrid {...props}>{usePermittedFields(children)}</Datagrid>
);
