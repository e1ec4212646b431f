/** Counts the calls of each caller in one minute after another. */
const MINUTE_MS = 60_000;

export class CallLimit {
  private minute = 0;
  private calls = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** Counts a call. @returns the seconds until the next minute; 0 where the caller has calls left */
  take(caller: string): number {
    const now = Date.now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.minute) [this.minute, this.calls] = [minute, new Map()];
    const count = (this.calls.get(caller) ?? 0) + 1;
    this.calls.set(caller, count);
    return count > this.most ? Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000) : 0;
  }
}
