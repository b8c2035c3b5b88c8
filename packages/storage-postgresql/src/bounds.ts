import type { RangeQuery } from '@strongroom/storage-sdk';

/** The conditions of a range query on the column `key`, and their values. PostgreSQL's text holds no U+0000, nor does any key. */
export function boundsOf(query: RangeQuery): { conditions: string[]; values: string[] } | undefined {
  const conditions: string[] = [];
  const values: string[] = [];
  const where = (comparison: string, value: string): void => {
    values.push(value);
    conditions.push(`key ${comparison} $${values.length}`);
  };
  if (query.prefix) {
    if (query.prefix.includes('\0')) return undefined;
    where('>=', query.prefix);
    const next = successor(query.prefix);
    if (next !== undefined) where('<', next);
  }
  if (query.after) where('>', beforeZero(query.after));
  if (query.before !== undefined) where(query.before.includes('\0') ? '<=' : '<', beforeZero(query.before));
  return { conditions, values };
}

/** The first text behind all that begin with `prefix`, by code points, or undefined when there is none. */
function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    // Surrogates are no code points of their own.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

function beforeZero(bound: string): string {
  return bound.split('\0', 1)[0] as string;
}
