/** What the server takes as a 64-bit integer: a number while that is exact, and a text beyond. */
export function parseBigInteger(text: string): number | string | null {
  if (text === '') return null;
  const isExact = /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text));
  return isExact ? Number(text) : text;
}
