const CAPACITY = 64;

/** Compiled statements by shape. Clients choose the shapes, so the oldest one makes room for a new one. */
export class StatementCache<S> {
  private readonly statements = new Map<string, S>();

  get(shape: string, compile: () => S): S {
    const known = this.statements.get(shape);
    if (known) return known;
    const statement = compile();
    this.statements.set(shape, statement);
    const [oldest] = this.statements.keys();
    if (oldest !== undefined && this.statements.size > CAPACITY) this.statements.delete(oldest);
    return statement;
  }
}
