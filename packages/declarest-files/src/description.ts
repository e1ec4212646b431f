/**
 * Describes bodies that are files, by the metadata of decorators of @nestjs/swagger: its import takes time, also where nobody
 * reads a document.
 */
const BINARY = { type: 'string', format: 'binary' };
const FAILURE = { 'application/json': { schema: { $ref: '#/components/schemas/FailureEnvelope' } } };

type Responses = Readonly<Record<number, { readonly description: string; readonly content?: object }>>;

export function describeUpload(method: object, types: readonly string[]): void {
  const body = { in: 'body', type: String, required: true, schema: BINARY };
  Reflect.defineMetadata('swagger/apiParameters', [body], method);
  Reflect.defineMetadata('swagger/apiConsumes', types, method);
  describeResponses(method, {
    413: { description: 'The file is too large.', content: FAILURE },
    415: { description: 'The file is of another type.', content: FAILURE },
  });
}

export function describeDownload(method: object, types: readonly string[]): void {
  const content = Object.fromEntries(types.map((type) => [type, { schema: BINARY }]));
  describeResponses(method, {
    200: { description: 'The file.', content },
    206: { description: 'The part that `Range` names.', content },
    304: { description: 'The client has the file already.' },
    416: { description: '`Range` lies outside of the file.', content: FAILURE },
  });
}

const describeResponses = (method: object, responses: Responses): void =>
  Reflect.defineMetadata('swagger/apiResponse', responses, method);
