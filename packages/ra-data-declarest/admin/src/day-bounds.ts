/** The bounds of a day in the time zone of the browser, which filter date-times. */

/** @param day `2026-03-29`, or an empty text */
export const startOfDay = (day: string): string => (day === '' ? '' : midnight(day, 0).toISOString());

/** Where the clock changes, a day does not have 24 hours. */
export const endOfDay = (day: string): string =>
  day === '' ? '' : new Date(midnight(day, 1).getTime() - 1).toISOString();

function midnight(day: string, daysLater: number): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater);
}
