/** Longer texts are not kept, so that memory has a bound. Tokens that the package signs have 200 to 300 letters. */
const MOST_LETTERS = 1024;

/** What is known of a number of texts that clients send. When all places are taken, who came first makes room. */
export class TextCache<T> {
  private readonly known = new Map<string, T>();
  /** The texts by place: to ask the map for its first key means to pass over all that were deleted. */
  private readonly places: string[] = [];
  private place = 0;

  /** @param size the number of places */
  constructor(private readonly size: number) {}

  get(text: string): T | undefined {
    return this.known.get(text);
  }

  set(text: string, value: T): void {
    if (text.length > MOST_LETTERS) return;
    this.known.delete(this.places[this.place] as string);
    // A copy: a part of a string keeps the whole alive, and that is a header with as many spaces as the client liked.
    const own = Buffer.from(text).toString();
    this.places[this.place] = own;
    this.known.set(own, value);
    this.place += 1;
    if (this.place === this.size) this.place = 0;
  }
}
