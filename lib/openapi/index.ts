/** declarest/openapi: what an OpenAPI document of @nestjs/swagger does not have by itself. */

export { addAccess } from './add-access.js';
