/** Lists of values in query parameters. */

/** The server takes as many values in a list, items in a batch, and records on a page. */
export const MAX_RECORDS = 100;
/** The server limits the length of the query string to 4,096 bytes, which other parameters need a part of. */
export const MAX_LENGTH = 3_800;

export const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

const escaped = (text: string): string => text.replaceAll(',', String.raw`\,`);

/**
 * Divides values among requests.
 *
 * @param inQuery what the query string has of a value
 */
export function chunksOf<T>(values: readonly T[], inQuery: (value: T) => string, maxLength = MAX_LENGTH): T[][] {
  const chunks: T[][] = [];
  let length = 0;
  let isOpen = false;
  for (const value of values) {
    const text = inQuery(value);
    const added = new URLSearchParams({ '': `${escaped(text)},` }).toString().length;
    const last = chunks.at(-1);
    if (last && isOpen && last.length < MAX_RECORDS && length + added <= maxLength) {
      last.push(value);
      length += added;
    } else {
      chunks.push([value]);
      length = added;
    }
    // It would escape the comma before the next value.
    isOpen = !text.endsWith('\\');
  }
  return chunks;
}

/** The values of a parameter, with commas inside of them escaped. A parameter with several lists is repeated. */
export const joinLists = (values: readonly unknown[]): string[] =>
  chunksOf(values.map(textOf), (text) => text, Infinity).map((texts) => texts.map(escaped).join(','));
