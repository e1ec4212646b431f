import { usePermittedFields } from 'ra-data-declarest';
import { SimpleForm, type SimpleFormProps } from 'react-admin';

const KEEP_INPUT = { keepDirtyValues: true };

/** A form that keeps what the user has typed while the record is read again. SimpleForm takes the record's values. */
export const KeptForm = (props: SimpleFormProps) => <SimpleForm resetOptions={KEEP_INPUT} {...props} />;

/** A form of a generated resource, with the inputs that the user may write. */
export const ShopForm = ({ children, ...props }: SimpleFormProps) => (
  <KeptForm {...props}>{usePermittedFields(children, 'write')}</KeptForm>
);
