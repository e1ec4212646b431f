import type { ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import type { OperationDeclaration } from '../declare/operations.js';
import type { DescribedResource } from './described-resource.js';
import type { BodyName } from './record-schemas.js';

/** In texts, `{one}`, `{many}` and `{tag}` stand for the names of the resource. */
export interface OperationDescription {
  readonly id: string;
  readonly summary: string;
  readonly text?: string;
  readonly parameters?: (resource: DescribedResource) => readonly ParameterDocument[];
  /** The schema of the body, or of the items of a batch. */
  readonly body?: BodyName | JsonSchema;
  readonly isBatch?: true;
  /** The member `data` of the envelope; `undefined` for a file. */
  readonly data?: 'record' | 'records' | ((resource: DescribedResource) => JsonSchema);
  readonly metadata?: (resource: DescribedResource) => JsonSchema | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether an unknown id is no failure. */
  readonly acceptsUnknownId?: true;
}

export interface DescribedOperation extends OperationDeclaration {
  readonly description: OperationDescription;
}
