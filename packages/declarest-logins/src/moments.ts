/** Moments in answers: what the database has as milliseconds, clients get as a date-time. */
export const momentOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const momentOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : momentOf(milliseconds);
