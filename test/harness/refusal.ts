/** The body of a 401 or 403 of an access rule. */
export const refusal = (error: string): { readonly error: string } => ({ error });
