/** The document says which headers options add to answers, and nothing of them where the options are off. */
import type { OpenAPIObject } from '@nestjs/swagger';
import { CrudController, type CrudOptions } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud } from '../crud/service.js';
import { documentOf } from './described.js';

@Entity()
class Plan {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

const OPTIONS = {
  entity: Plan,
  enableSearch: true,
  searchableFields: ['name'],
  enablePagination: true,
} as const satisfies Omit<CrudOptions<Plan>, 'endpoint'>;

interface Described {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, Described>>;
  readonly description?: string;
}

/** What a reference stands for. */
function resolve(document: OpenAPIObject, part: Described | undefined): Described {
  const target = part?.$ref?.split('/').slice(1);
  const found = target?.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);
  return (found as Described | undefined) ?? part ?? {};
}

/** The headers of the answer of an operation, with their descriptions. */
function headersOf(
  document: OpenAPIObject,
  path: string,
  verb: string,
  status: number,
): Record<string, string | undefined> {
  const operation = (document.paths[path] as Record<string, { responses: Record<string, Described> }> | undefined)?.[
    verb
  ];
  const { headers = {} } = resolve(document, operation?.responses[status]);
  return Object.fromEntries(Object.entries(headers).map(([name, each]) => [name, resolve(document, each).description]));
}

describe('headers of answers in the document', () => {
  it('are those of the options of a resource', async () => {
    class All extends CrudController({
      ...OPTIONS,
      endpoint: '/all',
    }) {}
    const service = await startCrud('express', { resources: [All, { ...OPTIONS, endpoint: '/none' }] });
    const document = documentOf(service.app);
    const namesOf = (verb: string, path: string, status = 200) => Object.keys(headersOf(document, path, verb, status));
    expect(namesOf('get', '/all')).toEqual(['X-Total-Count']);
    expect(namesOf('get', '/all/search')).toEqual(['X-Total-Count']);
    expect(namesOf('get', '/all/{id}')).toEqual([]);
    expect(namesOf('post', '/all', 201)).toEqual(['Location']);
    expect(namesOf('put', '/all/{id}')).toEqual([]);
    for (const [path, verb] of [
      ['/none', 'get'],
      ['/none/search', 'get'],
    ] as const)
      expect(namesOf(verb, path)).toEqual(['X-Total-Count']);
    // What the document says is what is sent.
    const { headers } = await service.get('/all');
    for (const name of namesOf('get', '/all')) expect(headers).toHaveProperty(name.toLowerCase());
    await service.close();
  });

  it('do not change the media type of failures, which are problems for clients that ask for them', async () => {
    const service = await startCrud('express', { resources: [{ ...OPTIONS, endpoint: '/plans' }] });
    const { components } = documentOf(service.app);
    expect(components?.schemas?.['FailureEnvelope']).toMatchObject({
      description: 'Every failure is a problem (RFC 9457) for clients that accept `application/problem+json`.',
    });
    await service.close();
  });
});
