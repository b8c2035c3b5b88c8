import type { HclBody, HclValue } from './ast.ts';
import { HclSyntaxError } from './syntax-error.ts';

/**
 * Throws `HclSyntaxError` for the first key assigned twice with `=` in one object, at any depth. Blocks may repeat, and so
 * may keys that came from JSON.
 */
export function requireUniqueKeys(body: HclBody): void {
  const seen = new Set<string>();
  for (const { key, value, assigned, line, column } of body) {
    if (assigned && line > 0) {
      if (seen.has(key)) {
        const where = `${line}:${column}`;
        throw new HclSyntaxError(
          `The argument ${JSON.stringify(key)} at ${where} was already set. Each argument can only be defined once`,
          line,
          column,
        );
      }
      seen.add(key);
    }
    requireUniqueWithin(value);
  }
}

function requireUniqueWithin(value: HclValue): void {
  if (value.kind === 'object') requireUniqueKeys(value.body);
  else if (value.kind === 'list') value.items.forEach(requireUniqueWithin);
}
