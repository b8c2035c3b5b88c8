import { isPlain, type AccessRule } from './access-rule.ts';
import { CAPABILITY_BITS, SUDO } from './capability.ts';

const NEEDED = CAPABILITY_BITS.list | SUDO;

/**
 * Whether a caller may list everything in a folder, with sudo: `covering`, the prefix rule that matches all of it, grants that, and none of the other rules
 * says less about a part of it. The folder ends in a slash.
 */
export function listsAll(folder: string, covering: AccessRule | undefined, rules: readonly AccessRule[]): boolean {
  if (!covering || !grants(covering)) return false;
  return rules.every((rule) => grants(rule) || !mayDecideIn(folder, rule, covering));
}

function grants(rule: AccessRule): boolean {
  return (rule.capabilities & NEEDED) === NEEDED && isPlain(rule) && rule.keysFilters.length === 0;
}

/** True also for some rules that decide nothing there. */
function mayDecideIn(folder: string, { pattern, rank }: AccessRule, covering: AccessRule): boolean {
  if (pattern.kind === 'exact') return `${pattern.text}/`.startsWith(folder);
  if (rank < covering.rank) return false;
  if (pattern.kind === 'prefix') return pattern.stem.startsWith(folder) || folder.startsWith(pattern.stem);
  const wanted = folder.split('/').slice(0, -1);
  const { segments, glob } = pattern;
  return wanted.every((name, at) => {
    const segment = segments[at];
    if (segment === undefined) return false;
    if (glob && at === segments.length - 1) return name.startsWith(segment);
    return segment === '+' || segment === name;
  });
}
