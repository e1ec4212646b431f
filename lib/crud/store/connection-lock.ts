/** A connection that statements share, and that a transaction has for itself. First in, first out. */
export class ConnectionLock {
  private statements = 0;
  private isExclusive = false;
  private readonly waiting: { readonly exclusive: boolean; readonly start: () => void }[] = [];

  shared<R>(work: () => Promise<R>): Promise<R> {
    return this.run(false, work);
  }

  exclusive<R>(work: () => Promise<R>): Promise<R> {
    return this.run(true, work);
  }

  private async run<R>(exclusive: boolean, work: () => Promise<R>): Promise<R> {
    if (this.waiting.length > 0 || !this.isFree(exclusive))
      await new Promise<void>((start) => this.waiting.push({ exclusive, start }));
    else this.acquire(exclusive);
    try {
      return await work();
    } finally {
      this.release(exclusive);
    }
  }

  private isFree(exclusive: boolean): boolean {
    return !this.isExclusive && (!exclusive || this.statements === 0);
  }

  private acquire(exclusive: boolean): void {
    if (exclusive) this.isExclusive = true;
    else this.statements += 1;
  }

  private release(exclusive: boolean): void {
    if (exclusive) this.isExclusive = false;
    else this.statements -= 1;
    for (let [next] = this.waiting; next && this.isFree(next.exclusive); [next] = this.waiting) {
      this.waiting.shift();
      this.acquire(next.exclusive);
      next.start();
    }
  }
}
