import { aggregate } from './aggregate.js';
import { count } from './count.js';
import { create, createMany } from './create.js';
import { deleteMany, deleteOne } from './delete.js';
import { exists } from './exists.js';
import { exportList } from './export.js';
import { findById } from './find-by-id.js';
import { findAll, search } from './list.js';
import type { Operation } from './operation.js';
import { restore } from './restore.js';
import { patch, patchMany, update } from './update.js';

const READS = [search, exists, count, aggregate, exportList, findAll, findById];
const WRITES = [createMany, patchMany, deleteMany, create, update, patch, deleteOne, restore];

/** Fixed paths come first, because Express matches routes in the order of their declaration. */
export const standardOperations: readonly Operation[] = Object.freeze([...READS, ...WRITES]);
