/** declarest/openapi: what an OpenAPI document of @nestjs/swagger does not have by itself, and how it is served. */
export { addAccess } from './add-access.js';
export { serveDocuments, serveFolder } from '../files/serve.js';
