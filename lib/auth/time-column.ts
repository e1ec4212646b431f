const toNumber = (value: unknown): number | null => (value === null ? null : Number(value));

/** Milliseconds since 1970, so that processes with other time zones read the same time. Drivers read 64 bits as text. */
export const TIME = { type: 'bigint', transformer: { to: (value: unknown) => value, from: toNumber } } as const;
