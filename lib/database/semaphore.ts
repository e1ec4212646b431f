/** Lets work with a limited total weight run at a time. First in, first out. */
export class Semaphore {
  private readonly waiting: { readonly weight: number; readonly start: () => void }[] = [];

  /** @param free the weight that may run at a time */
  constructor(private free: number) {}

  /** @param weight at most what may run at a time */
  async run<R>(weight: number, work: () => Promise<R>): Promise<R> {
    if (this.waiting.length > 0 || weight > this.free)
      await new Promise<void>((start) => this.waiting.push({ weight, start }));
    else this.free -= weight;
    try {
      return await work();
    } finally {
      this.free += weight;
      for (let [next] = this.waiting; next && next.weight <= this.free; [next] = this.waiting) {
        this.waiting.shift();
        this.free -= next.weight;
        next.start();
      }
    }
  }
}
