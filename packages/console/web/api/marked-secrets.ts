import type { ApiDocument, Schema } from './openapi.ts';

/** Whether the schema of an answer marks the field of this name as a secret: the answer as a whole, the field, or anything in it. */
export function isSecret(document: ApiDocument, schema: Schema, name: string): boolean {
  if (schema.$ref !== undefined) return isSecret(document, behind(document, schema.$ref), name);
  if (isMarked(schema)) return true;
  const { properties = {}, additionalProperties } = schema;
  const field = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return holdsSecret(document, field, []) || partsOf(schema).some((part) => isSecret(document, part, name));
}

/** The fields of a credential that are no secrets: those that the declaration leaves open, where it marks any. */
export function openFields(document: ApiDocument, schema: Schema): string[] {
  const names = Object.keys(schema.properties ?? {});
  const open = names.filter((name) => !isSecret(document, schema, name));
  return open.length < names.length ? open : [];
}

/** Whether the field holds a picture that is drawn: a PNG in base64. */
export function isPicture(schema: Schema): boolean {
  return schema.format === 'byte' && schema['x-vault-displayAttrs']?.mediaType === 'image/png';
}

/** `above` are the references that led here: a schema may contain itself. */
function holdsSecret(document: ApiDocument, schema: Schema | boolean | undefined, above: readonly string[]): boolean {
  if (typeof schema !== 'object') return false;
  const { $ref } = schema;
  if ($ref !== undefined) return !above.includes($ref) && holdsSecret(document, behind(document, $ref), [...above, $ref]);
  const inside = [...partsOf(schema), ...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  return isMarked(schema) || inside.some((one) => holdsSecret(document, one, above));
}

function isMarked(schema: Schema): boolean {
  return schema['x-vault-displayAttrs']?.sensitive === true;
}

function partsOf({ allOf = [], anyOf = [] }: Schema): readonly Schema[] {
  return [...allOf, ...anyOf];
}

function behind(document: ApiDocument, ref: string): Schema {
  return document.components.schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? {};
}
