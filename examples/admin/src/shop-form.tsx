import { SimpleForm, type SimpleFormProps } from 'react-admin';

const KEEP_INPUT = { keepDirtyValues: true };

/** A form that keeps what the user has typed while the record is read again. SimpleForm takes the record's values. */
export const ShopForm = (props: SimpleFormProps) => <SimpleForm resetOptions={KEEP_INPUT} {...props} />;
