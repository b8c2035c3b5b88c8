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
  readonly 'x-vault-displayAttrs'?: { readonly sensitive?: boolean; readonly group?: string; readonly editType?: string };
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Response extends Media {
  readonly $ref?: string;
}

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

/** The document is read once a session, and again after a mount was made, moved or removed. */
export function useApiDocument() {
  return useQuery({
    queryKey: [DOCUMENT, 'document'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await send('GET', DOCUMENT, { signal })).body as ApiDocument,
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
  return resolved(document, resolved(document, found?.content?.['application/json']?.schema).properties?.data);
}

/** What a write of an operation takes. */
export function bodyOf(document: ApiDocument, operation: ApiOperation | undefined): Schema {
  return resolved(document, operation?.requestBody?.content?.['application/json']?.schema);
}
