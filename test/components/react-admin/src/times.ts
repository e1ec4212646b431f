/** `TimeInput` makes a `Date` of today; the server has a text such as "08:15". */
export const parseTime = (text: string): string | null => text || null;
export const formatTime = (text: string | null): string => text?.slice(0, 5) ?? '';
