/** The keys of a secret without their values: leaves, empty objects and what lies deeper than `depth` become null. 0: no limit. */
export function subkeysOf(data: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, below(value, depth)]));
}

function below(value: unknown, depth: number): Record<string, unknown> | null {
  if (depth === 1 || typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) return null;
  return subkeysOf(value as Record<string, unknown>, depth - 1);
}
