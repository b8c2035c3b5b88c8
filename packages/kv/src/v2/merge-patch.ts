import { ExactNumber } from '@strongroom/engine-sdk';

type JsonObject = Readonly<Record<string, unknown>>;

/** RFC 7396: a new object, in which null removes and objects merge. */
export function mergePatch(target: JsonObject, patch: JsonObject): Record<string, unknown> {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (isObject(value)) merged.set(key, mergePatch(asObject(merged.get(key)), value));
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
