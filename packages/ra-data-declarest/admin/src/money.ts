const DECIMAL = /^-?\d+(?:\.(\d+))?$/;

/** An amount as the language of the browser writes it, with all its digits: a decimal is a text, which is not rounded. */
export function moneyOf(value: unknown, currency: string): string {
  const text = String(value ?? '');
  const [, fraction] = DECIMAL.exec(text) ?? [];
  if (!DECIMAL.test(text)) return text;
  const digits = fraction && { minimumFractionDigits: fraction.length, maximumFractionDigits: fraction.length };
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency, ...digits });
  return format.format(text as Intl.StringNumericLiteral);
}
