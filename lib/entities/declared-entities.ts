/**
 * Which classes TypeORM's decorators have made entities, and given primary keys. Its lists grow while modules are loaded, and
 * each of their items is looked at once: 500 resources would each look through those of all others.
 */
import { getMetadataArgsStorage } from 'typeorm';

interface Said {
  readonly target: unknown;
}

class Targets<T extends Said> {
  private list: readonly T[] = [];
  private readonly seen = new Set<unknown>();
  private read = 0;
  private last: T | undefined;

  constructor(private readonly counts: (said: T) => boolean) {}

  in(list: readonly T[]): ReadonlySet<unknown> {
    // Another list, or one that was cut meanwhile, as a test may do.
    if (list !== this.list || list[this.read - 1] !== this.last) {
      this.seen.clear();
      this.read = 0;
    }
    for (const said of list.slice(this.read)) if (this.counts(said)) this.seen.add(said.target);
    [this.list, this.read, this.last] = [list, list.length, list.at(-1)];
    return this.seen;
  }
}

type Storage = ReturnType<typeof getMetadataArgsStorage>;

const tables = new Targets<Storage['tables'][number]>(() => true);
const keys = new Targets<Storage['columns'][number]>(({ options }) => options.primary === true);
const embedded = new Targets<Storage['embeddeds'][number]>(() => true);

export const isEntity = (target: object): boolean => tables.in(getMetadataArgsStorage().tables).has(target);

/** Whether the class, or one that it extends, has a primary key, or something embedded that may hold one. */
export function hasPrimaryKey(entity: object): boolean {
  const { columns, embeddeds } = getMetadataArgsStorage();
  const known = [keys.in(columns), embedded.in(embeddeds)];
  for (let each: unknown = entity; typeof each === 'function'; each = Object.getPrototypeOf(each))
    if (known.some((targets) => targets.has(each))) return true;
  return false;
}
