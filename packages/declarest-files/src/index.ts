/** declarest-files: columns that hold files, in a folder or in a bucket. */

export { FileColumn, StoredFile, type FileColumnOptions } from './file-column.js';
export { FileCrudController } from './file-crud-controller.js';
export { diskStorage } from './disk-storage.js';
export type { ByteRange, FileStorage, StoredObject } from './file-storage.js';
export { findOrphans, type OrphanOptions } from './orphans.js';
