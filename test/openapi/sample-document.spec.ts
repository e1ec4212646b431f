/** The document of the sample shop: what makes clients and readers of it stumble. */
import type { OpenAPIObject } from '@nestjs/swagger';
import { startChild } from '../child-process.js';
import { compile } from '../compiled.js';
import { DescribedApi, type Schema } from './described.js';

/** As the command writes it. */
let text: string;
let document: OpenAPIObject;
let api: DescribedApi;
beforeAll(async () => {
  const { directory: cwd, remove } = await compile(['lib/cli/declarest.ts', 'sample-app/access.ts']);
  const command = ['lib/cli/declarest.js', 'openapi', 'sample-app/access.js'];
  text = (await startChild(process.execPath, command, { cwd }).ended).stdout;
  await remove();
  document = JSON.parse(text) as OpenAPIObject;
  api = new DescribedApi(document);
});

/** The value of every member with this name, at any depth. */
function valuesOf(name: string, within: unknown = document): unknown[] {
  const found: unknown[] = [];
  JSON.stringify(within, (key, value: unknown) => {
    if (key === name) found.push(value);
    return value;
  });
  return found;
}

const textsOf = (name: string): string[] =>
  valuesOf(name).filter((value): value is string => typeof value === 'string');

describe('the document of the sample', () => {
  it('has at most 250 kB as the command writes it', () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(250_000);
  });

  it('has patterns that mean the same with the flag u and without it', () => {
    const texts = ['', 'Ann', 'Ann Lee', ' Ann', 'a\u0000b', 'a\u0085b', 'a\nb', '😀', 'é', '12', '-1', 'a,b', 'a\\,b'];
    for (const pattern of new Set(textsOf('pattern'))) {
      const plain = new RegExp(pattern);
      const unicode = new RegExp(pattern, 'u');
      expect([pattern, texts.filter((text) => plain.test(text))]).toEqual([
        pattern,
        texts.filter((text) => unicode.test(text)),
      ]);
      expect(pattern).not.toMatch(/\\[pP]\{/);
    }
  });

  it('says the form of 64-bit integers at most once', () => {
    expect(textsOf('pattern').filter((pattern) => pattern.includes('{15,18}')).length).toBeLessThanOrEqual(1);
  });

  it.each(['parameters', 'headers', 'responses', 'requestBody'])('repeats nothing in %s', (name) => {
    const found = valuesOf(name, [document.paths, document.components?.responses]) as object[];
    const parts: unknown[] = name === 'requestBody' ? found : found.flatMap((each) => Object.values(each));
    const inline = parts.map((part) => JSON.stringify(part)).filter((text) => !text.startsWith('{"$ref"'));
    expect(inline.filter((text, index) => inline.indexOf(text) !== index)).toEqual([]);
  });

  it('has the parameters of a path once, where it has several operations', () => {
    const { parameters, get, patch } = document.paths['/api/products/{productId}/reviews/{id}'] ?? {};
    expect([parameters?.length, get?.parameters?.length, patch?.parameters]).toEqual([2, 1, undefined]);
    expect(document.paths['/api/products/{id}/restore']?.post?.parameters).toHaveLength(1);
  });

  it('has values that answers repeat once, and those of records in the records', () => {
    const { timestamp } = api.named('FailureEnvelope')['properties'] as Schema;
    expect(timestamp).toEqual({ $ref: '#/components/schemas/Timestamp' });
    expect(api.named('Product')['properties']).toMatchObject({
      id: { type: 'integer' },
      category: { anyOf: [{}, {}] },
    });
  });

  it('has a reference for every component, and a component for every reference', () => {
    const used = new Set(textsOf('$ref'));
    const known = Object.entries(document.components as Readonly<Record<string, object>>)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`));
    expect(known.filter((each) => !used.has(each))).toEqual([]);
    expect([...used].filter((each) => !known.includes(each))).toEqual([]);
  });

  it('has one type for the id of each resource', () => {
    const typeOf = (schema: Schema | undefined) => (schema as Schema)['type'];
    for (const [name, get] of [
      ['Product', 'getProduct'],
      ['Order', 'getOrder'],
      ['Category', 'getCategory'],
      ['User', 'getUser'],
      ['AuthProfile', 'changeUser'],
    ] as const) {
      const { id } = api.named(name)['properties'] as Readonly<Record<string, Schema>>;
      const parameter = api.operation(get).parameters.find((each) => each.name === 'id');
      expect([name, typeOf(id), typeOf(parameter?.schema)]).toEqual([name, 'integer', 'integer']);
    }
  });

  it('requires metadata and the total where they are always sent', () => {
    const answerOf = (id: string) =>
      api.operation(id).responses['200']?.content?.['application/json']?.schema as {
        readonly required: readonly string[];
        readonly properties: { readonly metadata: { readonly required: readonly string[] } };
      };
    for (const id of ['listProducts', 'searchProducts', 'listOrders', 'listUsers', 'findUsers']) {
      expect(answerOf(id).required).toContain('metadata');
      expect(answerOf(id).properties.metadata.required).toEqual(['pagination']);
    }
    expect(api.named('Pagination')['required']).toEqual(['page', 'size', 'total', 'totalPages']);
  });

  it('gives properties to objects only', () => {
    const schemas = Object.values(document.components?.schemas ?? {}) as Schema[];
    expect(schemas.filter((each) => each['type'] !== 'object' && 'properties' in each)).toEqual([]);
  });

  it('gives every enum and every constant a type', () => {
    const untyped: string[] = [];
    JSON.stringify(document, (_, value: unknown) => {
      if (typeof value === 'object' && value !== null && ('enum' in value || 'const' in value) && !('type' in value))
        untyped.push(JSON.stringify(value));
      return value;
    });
    expect(untyped).toEqual([]);
  });

  it('writes "an" where one belongs', () => {
    const summaries = api.operations.map((operation) => (operation as unknown as { summary: string }).summary);
    expect(summaries).toEqual(expect.arrayContaining(['Create an Order', 'Get a Product', 'Get a User']));
    expect(summaries.filter((summary) => /\ba [AEIO]/.test(summary))).toEqual([]);
  });

  it('describes the answers of the controller written by hand', () => {
    for (const { operationId, path, responses } of api.operations.filter(({ tags }) => tags.includes('Admin'))) {
      const schema = responses['200']?.content?.['application/json']?.schema;
      const { properties, required } = api.named(String(schema?.['$ref']));
      expect([operationId, path, required]).toEqual([operationId, path, Object.keys(properties as object)]);
    }
  });

  it('has a sentence for each tag', () => {
    expect(document.tags?.map(({ name, description }) => [name, description])).toEqual(
      expect.arrayContaining([
        ['Products', 'Operations of `/api/products`.'],
        ['Auth', 'Operations of `/api/auth`.'],
      ]),
    );
    expect(new Set(document.tags?.map(({ name }) => name))).toEqual(
      new Set(api.operations.flatMap(({ tags }) => tags)),
    );
  });

  it('takes a token on public operations whose answer depends on it', () => {
    const securityOf = (id: string) => (api.operation(id) as unknown as { security: unknown }).security;
    expect(securityOf('listProducts')).toEqual([{}, { bearer: [] }]);
    expect(securityOf('listCategories')).toEqual([]);
    expect(securityOf('login')).toEqual([]);
    expect(securityOf('createProduct')).toEqual([{ bearer: [] }]);
  });

  it('patches one field in its examples', () => {
    for (const { operationId, requestBody } of api.operations.filter(
      ({ method, path }) => method === 'PATCH' && path.endsWith('{id}'),
    )) {
      const { examples } = (requestBody?.content['application/json'] ?? {}) as {
        examples: { example: { value: object } };
      };
      expect([operationId, Object.keys(examples.example.value).length]).toEqual([operationId, 1]);
    }
  });
});
