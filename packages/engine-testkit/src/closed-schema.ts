import type { TSchema } from 'typebox';

const closed = new WeakMap<object, TSchema>();

/** The schema without room for keys that it does not name, so that a forgotten key is found. An object that says `additionalProperties` keeps its word. */
export function closedSchema(schema: TSchema): TSchema {
  let made = closed.get(schema);
  if (!made) closed.set(schema, (made = close(schema) as TSchema));
  return made;
}

function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== 'object' || schema === null) return schema;
  const made = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'enum' || key === 'const' ? value : close(value)]),
  );
  return made['type'] === 'object' && made['properties'] && made['additionalProperties'] === undefined
    ? { ...made, additionalProperties: false }
    : made;
}
