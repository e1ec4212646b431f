/** Names of resources, operations, fields and paths, from the `paths` that openapi-typescript writes of the document. */

/** Without the types of a document, every name is allowed. */
export type AnyPaths = Record<string, unknown>;

/** Whether the types of a document are missing. `ReturnType<typeof createClient>` has `object` in their place. */
export type IsUntyped<Paths> = [keyof Paths] extends [never] ? true : string extends keyof Paths ? true : false;

/** The path of the resources: `/api` where the document has `/api/auth/me` or `/api/auth/access`. */
export type BaseOf<Paths> = keyof Paths extends infer Path
  ? Path extends `${infer Base}/auth/${'access' | 'me'}`
    ? Base
    : never
  : never;

/** The last level of a path that belongs to a generated operation. */
type Level = 'aggregate' | 'batch' | 'count' | 'export' | 'import' | 'restore' | 'search';
/** Paths that are not resources: those of records and of operations, and account endpoints. */
type OtherPath = `${string}}` | `${string}{id}/${string}` | `${string}/${Level}` | `auth/${string}`;

/** `products`, `products/:productId/reviews` */
export type ResourceName<Paths, Base extends string> =
  IsUntyped<Paths> extends true
    ? string
    : { [Path in keyof Paths]: Path extends `${Base}/${infer Name}` ? NameOf<Name> : never }[keyof Paths];

type NameOf<Path extends string> = Path extends OtherPath ? never : WithColons<Path>;

/** `products/{productId}/reviews` → `products/:productId/reviews` */
type WithColons<Path extends string> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}:${Name}${WithColons<After>}`
  : Path;

type WithBraces<Name extends string> = Name extends `${infer Before}:${infer Parameter}/${infer After}`
  ? `${Before}{${Parameter}}/${WithBraces<After>}`
  : Name extends `${infer Before}:${infer Parameter}`
    ? `${Before}{${Parameter}}`
    : Name;

/** The method and the path of each generated operation. */
interface Routes {
  readonly findAll: ['get', ''];
  readonly findById: ['get', '/{id}'];
  readonly search: ['get', '/search'];
  readonly exists: ['get', '/exists/{id}'];
  readonly count: ['get', '/count'];
  readonly aggregate: ['get', '/aggregate'];
  readonly export: ['get', '/export'];
  readonly import: ['post', '/import'];
  readonly create: ['post', ''];
  readonly update: ['put', '/{id}'];
  readonly patch: ['patch', '/{id}'];
  readonly delete: ['delete', '/{id}'];
  readonly createMany: ['post', '/batch'];
  readonly patchMany: ['patch', '/batch'];
  readonly deleteMany: ['delete', '/batch'];
  readonly restore: ['post', '/{id}/restore'];
}

/** `update`, and custom operations: `topSellers` of `/top-sellers`, `publish` of `/{id}/publish`. */
export type OperationName<Paths, Base extends string, Resource extends string> =
  IsUntyped<Paths> extends true ? string : OperationsOf<Paths, `${Base}/${WithBraces<Resource>}`>;

type OperationsOf<Paths, Path extends string> =
  | { [Name in keyof Routes]: MemberOf<Paths, Path, Routes[Name]> extends never ? never : Name }[keyof Routes]
  | { [Each in keyof Paths]: Each extends `${Path}/${infer Rest}` ? CustomName<Rest> : never }[keyof Paths];

type CustomName<Rest extends string> = Rest extends `{id}/${infer Own}`
  ? CustomName<Own>
  : Rest extends `${string}${'{' | '/'}${string}` | Level
    ? never
    : CamelCase<Rest>;

type CamelCase<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Text;

/** The methods of a document, as `request` takes them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The paths that have a method, as `request` takes them: `products/:id`. */
export type PathName<Paths, Base extends string, M extends Method> = {
  [Path in keyof Paths]: Path extends `${Base}/${infer Name}`
    ? MemberOf<Paths, Path, [Lowercase<M>, '']> extends never
      ? never
      : WithColons<Name>
    : never;
}[keyof Paths] &
  string;

/** The type of the operation at such a path. */
export type OperationOf<Paths, Base extends string, M extends Method, Name extends string> = MemberOf<
  Paths,
  `${Base}/${WithBraces<Name>}`,
  [Lowercase<M>, '']
>;

/** The type of an operation; `never` where the document has none. A method without one is `undefined`. */
type MemberOf<Paths, Path extends string, Route extends readonly [string, string]> = Exclude<
  At<At<Paths, `${Path}${Route[1]}`>, Route[0]>,
  undefined
>;

export type At<T, Name> = Name extends keyof T ? T[Name] : never;

/** The fields of the records and bodies of a resource. */
export type FieldName<Paths, Base extends string, Resource extends string> =
  IsUntyped<Paths> extends true ? string : FieldsOf<Paths, `${Base}/${WithBraces<Resource>}`>;

type FieldsOf<Paths, Path extends string> =
  NamesOf<RecordAt<Paths, Path>> | NamesOf<BodyOf<MemberOf<Paths, Path, Routes['create' | 'update' | 'patch']>>>;

type RecordAt<Paths, Path extends string> = RecordIn<MemberOf<Paths, Path, Routes['findAll' | 'findById']>>;

/** The records of a resource. */
export type RecordOf<Paths, Base extends string, Resource extends string> = RecordAt<
  Paths,
  `${Base}/${WithBraces<Resource>}`
>;

type NamesOf<T> = T extends unknown ? keyof T & string : never;

type BodyOf<Operation> = Operation extends { readonly requestBody?: infer Body } ? JsonOf<NonNullable<Body>> : never;

export type JsonOf<T> = T extends { readonly content: { readonly 'application/json': infer Json } } ? Json : never;

type RecordIn<Operation> = Operation extends { readonly responses: { readonly 200: infer Answer } }
  ? JsonOf<Answer> extends { readonly data: infer Data }
    ? Data extends readonly (infer Record)[]
      ? Record
      : Data
    : never
  : never;
