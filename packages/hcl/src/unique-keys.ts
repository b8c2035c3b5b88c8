import type { HclBody, HclValue } from './ast.ts';
import { HclSyntaxError } from './syntax-error.ts';

/**
 * Throws `HclSyntaxError` for the first key assigned twice with `=` in one object, at any depth. Blocks may repeat, and so
 * may keys that came from JSON. Whoever parses ACL policies calls this; password policies let the last one count.
 */
export function requireUniqueKeys(body: HclBody): void {
  const seen = new Set<string>();
  for (const { key, value, assigned, line, column } of body) {
    if (assigned) {
      if (seen.has(key)) {
        const reason = `The argument ${JSON.stringify(key)} at ${line}:${column} was already set. Each argument can only be defined once`;
        throw new HclSyntaxError(reason, line, column, reason);
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
