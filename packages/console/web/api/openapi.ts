import { useQuery } from '@tanstack/react-query';
import { send } from './send.ts';

/** A schema of the OpenAPI document, as forms and answers read it. */
export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
  readonly $ref?: string;
  readonly 'x-vault-displayAttrs'?: {
    readonly sensitive?: boolean;
    readonly group?: string;
    readonly editType?: string;
    /** Of base64: what the bytes are, such as `image/png`. */
    readonly mediaType?: string;
  };
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Response extends Media {
  readonly $ref?: string;
}

/** A reference, to a header that every path takes, has no name. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description?: string;
  readonly schema: Schema;
}

/** One operation of a path. */
export interface ApiOperation {
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-strongroom-ui'?: { readonly kind?: string };
}

export type Verb = 'get' | 'post' | 'patch' | 'delete';

export interface PathItem extends Partial<Record<Verb, ApiOperation>> {
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly 'x-vault-sudo'?: boolean;
}

/** What the token can reach, as the server declares it. */
export interface ApiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly responses: Readonly<Record<string, Response>> };
}

export const DOCUMENT = 'sys/internal/specs/openapi';

/** The document as pages use it: paths as people write them, and without the headers that every path takes. */
export function readDocument(body: unknown): ApiDocument {
  const document = body as ApiDocument;
  const paths = Object.entries(document.paths).map(([path, item]): [string, PathItem] => [
    path.split('/').map(decodeURIComponent).join('/'),
    { ...item, parameters: (item.parameters ?? []).filter(({ name }) => name !== undefined) },
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** The document is read once a session, and again after a mount was made, moved or removed. */
export function useApiDocument() {
  return useQuery({
    queryKey: [DOCUMENT, 'document'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => readDocument((await send('GET', DOCUMENT, { signal })).body),
  });
}

/** The schema behind a reference; parts of `allOf` are put together. */
export function resolved(document: ApiDocument, schema: Schema | undefined): Schema {
  if (!schema) return {};
  if (schema.$ref) return resolved(document, document.components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]);
  if (!schema.allOf) return schema;
  const parts = schema.allOf.map((part) => resolved(document, part));
  const properties = Object.fromEntries(parts.flatMap((part) => Object.entries(part.properties ?? {})));
  return { ...parts.reduce((all, part) => ({ ...all, ...part })), properties };
}

/** The shape of `data` in the answer of an operation. */
export function dataOf(document: ApiDocument, operation: ApiOperation | undefined): Schema {
  const answer = operation?.responses['200'];
  const found = answer?.$ref ? document.components.responses[answer.$ref.slice(answer.$ref.lastIndexOf('/') + 1)] : answer;
  const schema = found?.content?.['application/json']?.schema;
  // The first form is that of a read; lists and wrapped answers come after it.
  return resolved(document, resolved(document, schema?.anyOf?.[0] ?? schema).properties?.data);
}

/** What a write of an operation takes. */
export function bodyOf(document: ApiDocument, operation: ApiOperation | undefined): Schema {
  return resolved(document, Object.values(operation?.requestBody?.content ?? {})[0]?.schema);
}
