/** declarest/testing: for the tests of applications. Nothing of it runs in the application itself. */

export { as, type Answer, type Client, type RequestParts, type TestUser } from './client.js';
export { accessMatrix, type MatrixOptions, type MatrixRow } from './access-matrix.js';
export { createCrudTestingModule } from './crud-testing-module.js';
export { isolationProof, type IsolationOptions, type IsolationResult } from './isolation/isolation-proof.js';
export { IsolationError, type IsolationFinding } from './isolation/isolation-error.js';
export { varyHidden } from './isolation/vary-hidden.js';
export type { IsolationTransport } from './isolation/databases.js';
export type { IsolationRequest } from './isolation/random-requests.js';
