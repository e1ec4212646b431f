/** What Nest injects into generated controllers, as properties, so that a subclass's constructor is its own. */
import type { DataSource, Repository } from 'typeorm';

export const DATA_SOURCE = Symbol('declarest.dataSource');
export const REPOSITORY = Symbol('declarest.repository');

export interface InjectedMembers {
  readonly [DATA_SOURCE]: DataSource;
  /** `undefined` where the controller's module does not provide it. */
  readonly [REPOSITORY]: Repository<never> | undefined;
}
