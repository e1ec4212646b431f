/** Arranges an OpenAPI document: a sentence for each tag, and what operations repeat once. */
import type { OpenAPIObject } from '@nestjs/swagger';
import { shareParts, type Operation, type Part } from './share-parts.js';

/** Operations by their methods, and `parameters` of all of them. */
type PathItem = Record<string, Operation | Part[]>;

const operationsOf = (item: object): Operation[] => Object.values(item as Readonly<Record<string, Operation>>);

export function arrange(document: OpenAPIObject): OpenAPIObject {
  const { paths, components, tags = [], ...others } = JSON.parse(JSON.stringify(document)) as OpenAPIObject;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    operationsOf(item).map((operation) => ({ operation, levels: path.split('/') })),
  );
  for (const { operation } of operations)
    for (const parameter of operation.parameters ?? []) if (parameter.required === false) delete parameter.required;
  const ofPaths = Object.values(paths).map((item) => moveToPath(item as PathItem));
  const shared = shareParts([...operations.map(({ operation }) => operation), ...ofPaths], components);
  const names = new Set([...tags.map(({ name }) => name), ...operations.flatMap((each) => each.operation.tags ?? [])]);
  const described = [...names].map((name) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name));
    const base = own[0]?.levels.filter((level, depth) => own.every(({ levels }) => levels[depth] === level)).join('/');
    return { name, description: `Operations of \`${base}\`.`, ...tags.find((tag) => tag.name === name) };
  });
  return { ...others, tags: described, paths, components: shared as object };
}

/** Moves path parameters that all operations of a path describe in the same way. @returns them, with the tag of the path */
function moveToPath(item: PathItem): Operation {
  const operations = operationsOf(item);
  const described = operations.map(({ parameters = [] }) => new Set(parameters.map((each) => JSON.stringify(each))));
  const isOfPath = (each: Part): boolean =>
    each.in === 'path' && operations.length > 1 && described.every((texts) => texts.has(JSON.stringify(each)));
  const [{ tags = [], parameters = [] } = {}] = operations;
  const moved = parameters.filter(isOfPath);
  if (moved.length === 0) return {};
  for (const operation of operations) {
    const rest = operation.parameters?.filter((each) => !isOfPath(each)) ?? [];
    if (rest.length > 0) operation.parameters = rest;
    else delete operation.parameters;
  }
  item['parameters'] = moved;
  return { tags, parameters: moved };
}
