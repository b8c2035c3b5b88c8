import type { HclBody, HclValue } from './ast.ts';

/** What `toPlain` makes of a text. */
export type HclPlain = string | number | boolean | null | HclPlain[] | { [key: string]: HclPlain };

/**
 * The items as nested objects. A block's labels become levels (`path "a" {}` is `{ path: { a: {} } }`). Where a key
 * repeats, blocks are gathered into a list, lists are joined, and of other values the last one counts.
 */
export function toPlain(body: HclBody): { [key: string]: HclPlain } {
  const top: Level = new Map();
  for (const { key, labels, value } of body) {
    let level = top;
    let name = key;
    for (const label of labels) {
      let below = level.get(name);
      if (!(below instanceof Map)) level.set(name, (below = new Map<string, Slot>()));
      level = below;
      name = label;
    }
    const before = level.get(name);
    if (before === undefined || before instanceof Map) level.set(name, { values: [value] });
    else before.values.push(value);
  }
  return plainLevel(top);
}

type Level = Map<string, Slot>;
type Slot = { readonly values: HclValue[] } | Map<string, Slot>;

function plainLevel(level: Level): { [key: string]: HclPlain } {
  return Object.fromEntries([...level].map(([key, slot]) => [key, slot instanceof Map ? plainLevel(slot) : plainSlot(slot.values)]));
}

function plainSlot(values: readonly HclValue[]): HclPlain {
  const last = values[values.length - 1];
  if (last === undefined) return null;
  if (values.length === 1) return plainValue(last);
  if (values.every((value) => value.kind === 'object')) return values.map(plainValue);
  if (last.kind === 'list') return values.flatMap((value) => (value.kind === 'list' ? value.items.map(plainValue) : []));
  return plainValue(last);
}

function plainValue(value: HclValue): HclPlain {
  switch (value.kind) {
    case 'object':
      return toPlain(value.body);
    case 'list':
      return value.items.map(plainValue);
    case 'null':
      return null;
    default:
      return value.value;
  }
}
