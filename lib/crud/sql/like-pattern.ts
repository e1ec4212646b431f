/**
 * A LIKE pattern of PostgreSQL and MySQL, in which `\` escapes, as a GLOB pattern of SQLite: its LIKE folds letters, and
 * has no escape.
 */
export const globOf = (pattern: string): string =>
  pattern.replace(
    /\\(.)|[%_*?[]/gsu,
    (text, escaped: string | undefined) => WILDCARDS[text] ?? literal(escaped ?? text),
  );

const WILDCARDS: Readonly<Record<string, string>> = { '%': '*', _: '?' };
const literal = (character: string): string => (/[*?[]/.test(character) ? `[${character}]` : character);

/** The text as a LIKE pattern in which it is literal; `!` escapes. */
export const containing = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
