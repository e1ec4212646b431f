/** The text as a LIKE pattern in which it is literal; `!` escapes. */
export const containing = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
