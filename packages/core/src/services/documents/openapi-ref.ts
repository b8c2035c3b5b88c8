/** A schema, or another part, in the dialect of OpenAPI 3.0. */
export type OpenApiSchema = Readonly<Record<string, unknown>>;

/** A reference to a component of the document. */
export function refTo(kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): OpenApiSchema {
  return { $ref: `#/components/${kind}/${name}` };
}
