/** The operations of a resource. Of HTTP they know only the exceptions that name a refusal. */
import type { DataSource, Repository } from 'typeorm';
import type { Resource } from '../plan/resource.js';
import { Batches } from './batches.js';
import { Reads } from './reads.js';
import { RecordBodies } from '../write/record-bodies.js';
import { RecordWrites } from '../write/record-writes.js';
import type { RelatedAccesses } from './relation-views.js';
import { References } from '../write/references.js';
import { ResourceAccess } from './resource-access.js';
import { Writes } from './writes.js';

export interface Operations<T extends object> {
  readonly reads: Reads<T>;
  readonly writes: Writes<T>;
  readonly batches: Batches<T>;
}

export function operationsOn<T extends object>(
  resource: Resource<T>,
  repository: Repository<T>,
  dataSource: DataSource,
  related: () => RelatedAccesses,
  resourcesOf: ResourceAccess<T>['resourcesOf'],
): Operations<T> {
  const access = new ResourceAccess(resource, repository, dataSource, related, resourcesOf);
  const bodies = new RecordBodies(access);
  const records = new RecordWrites(access, bodies, new References(access));
  return {
    reads: new Reads(access),
    writes: new Writes(access, bodies, records),
    batches: new Batches(access, bodies, records),
  };
}
