/** Arranges an OpenAPI document: a sentence for each tag, and repeated parts once. */
import { HttpStatus } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

type Parts = Record<string, { readonly name?: string; required?: boolean }>;

export interface Operation {
  readonly tags?: readonly string[];
  readonly parameters?: Parts;
  readonly responses?: Parts;
  readonly [member: string]: unknown;
}

export function arrange(document: OpenAPIObject): OpenAPIObject {
  const { paths, components, tags = [], ...others } = JSON.parse(JSON.stringify(document)) as OpenAPIObject;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item as Readonly<Record<string, Operation>>).map((each) => ({ ...each, levels: path.split('/') })),
  );
  const shared = { ...components } as Record<string, Parts>;
  for (const kind of ['parameters', 'responses'] as const) shared[kind] = share(kind, operations, shared[kind]);
  const names = new Set([...tags.map(({ name }) => name), ...operations.flatMap((each) => each.tags ?? [])]);
  const described = [...names].map((name) => {
    const own = operations.filter((each) => each.tags?.includes(name));
    const base = own[0]?.levels.filter((level, depth) => own.every(({ levels }) => levels[depth] === level)).join('/');
    return { name, description: `Operations of \`${base}\`.`, ...tags.find((tag) => tag.name === name) };
  });
  return { ...others, tags: described, paths, components: shared as object };
}

/** Replaces what operations repeat by references. It is named by its tag too where all of them have the same one. */
function share(kind: 'parameters' | 'responses', operations: readonly Operation[], known: Parts = {}): Parts {
  const shared = { ...known };
  const places = new Map<string, { readonly parts: Parts; readonly key: string; readonly tag: string }[]>();
  for (const { tags: [tag = ''] = [], [kind]: parts = {} } of operations)
    for (const [key, part] of Object.entries(parts)) {
      if (part.required === false) delete part.required;
      const text = JSON.stringify(part);
      places.set(text, [...(places.get(text) ?? []), { parts, key, tag }]);
    }
  for (const [text, same] of places) {
    const { key, tag } = same[0] as (typeof same)[number];
    if (same.length < 2 || text.startsWith('{"$ref"')) continue;
    const part = JSON.parse(text) as Parts[string];
    const word = part.name ?? HttpStatus[Number(key)]?.toLowerCase() ?? key;
    const words = `${same.every((each) => each.tag === tag) ? tag : ''} ${word}`.split(/[^A-Za-z0-9]+/);
    const base = words.map((each) => each.charAt(0).toUpperCase() + each.slice(1)).join('');
    let name = base;
    for (let number = 2; name in shared; number += 1) name = `${base}${number}`;
    shared[name] = part;
    for (const place of same) place.parts[place.key] = { $ref: `#/components/${kind}/${name}` } as object;
  }
  return shared;
}
