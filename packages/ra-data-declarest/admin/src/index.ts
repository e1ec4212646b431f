/** An admin interface that react-admin shows for the resources of a service, from its OpenAPI document. */
export { AdminFor, type AdminForProps, type ResourcePages } from './admin-for.js';
export type { Logins } from './logins.js';
export type { FieldDescription, FieldKind, ResourceDescription } from 'ra-data-declarest/description';
