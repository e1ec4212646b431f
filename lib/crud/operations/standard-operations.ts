import type { StandardOperation } from '../declare/operations.js';
import { importFile } from '../import/import.js';
import { aggregate, count } from './count.js';
import { create, createMany } from './create.js';
import { deleteMany, deleteOne } from './delete.js';
import { exists } from './exists.js';
import { exportList } from './export.js';
import { findById } from './find-by-id.js';
import { findAll } from './list.js';
import { search } from './search.js';
import type { Operation } from './operation.js';
import { restore } from './restore.js';
import { patch, patchMany, update } from './update.js';

const READS = [search, exists, count, aggregate, exportList, findAll, findById];
const WRITES = [createMany, importFile, patchMany, deleteMany, create, update, patch, deleteOne, restore];

/**
 * The operations of the package. Fixed paths come first, because Express matches routes in the order of their declaration.
 * @example operations: [...standardOperations, topSellers]
 */
export const standardOperations: readonly StandardOperation[] = [...READS, ...WRITES] as (Operation &
  StandardOperation)[];
