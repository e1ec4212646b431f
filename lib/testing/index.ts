/** declarest/testing: for the tests of applications. Nothing of it runs in the application itself. */

export { as } from './client.js';
export type { Answer, Client, RequestParts, TestUser } from './client.js';
export { accessMatrix } from './access-matrix.js';
export type { MatrixOptions, MatrixRow } from './access-matrix.js';
export { urlSpellings } from './url-spellings.js';
export type { Spelling } from './url-spellings.js';
