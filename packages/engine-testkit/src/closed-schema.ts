import type { TSchema } from 'typebox';

const closed = new WeakMap<object, TSchema>();
/** By their text: each mount declares its paths again, and a schema takes longer to compile than most tests to run. */
const closedTexts = new Map<string, TSchema>();

/** The schema without room for keys that it does not name, so that a forgotten key is found. An object that says `additionalProperties` keeps its word. */
export function closedSchema(schema: TSchema): TSchema {
  const known = closed.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  let made = closedTexts.get(text);
  if (!made) closedTexts.set(text, (made = close(schema) as TSchema));
  closed.set(schema, made);
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
